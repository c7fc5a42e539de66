import Core

/// The token by which a team shows who it is, and when it is renewed.
///
/// APNs refuses tokens older than an hour and punishes who makes them more often than every 20 minutes. So couriers share
/// one, under a key of Redis that ends when the token is to be renewed.
public struct ProviderToken: Sendable, Equatable {
    /// When it was made, seconds since 1970.
    public let madeSecond: Int
    /// The token, ASCII.
    public let text: [UInt8]

    /// A token is renewed after so many seconds.
    public static let lifeSeconds = 3_000
    /// No token is made sooner after the last one, seconds.
    public static let restSeconds = 1_260

    /// A token that was made.
    public init(madeSecond: Int, text: [UInt8]) {
        self.madeSecond = madeSecond
        self.text = text
    }

    /// Reads what couriers share, `SECOND TOKEN`; `nil` for anything else.
    public init?(shared bytes: [UInt8]) {
        let parts = bytes.split(separator: UInt8(ascii: " "), maxSplits: 1)
        guard bytes.count <= 4_096, parts.count == 2, let second = ASCII.decimal(parts[0]),
            parts[1].allSatisfy({
                $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_")
                    || ASCII.isLetter($0) || ASCII.isDigit($0)
            })
        else { return nil }
        self.init(madeSecond: second, text: Array(parts[1]))
    }

    /// What couriers share.
    public var shared: [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(decimal: madeSecond)
        return bytes + [UInt8(ascii: " ")] + text
    }

    /// The claims of a token, JSON text.
    public static func claims(team: [UInt8], second: Int) -> [UInt8] {
        var json: [UInt8] = []
        json.append(text: "{\"iss\":")
        json.append(jsonString: team)
        json.append(text: ",\"iat\":")
        json.append(decimal: second)
        json.append(text: "}")
        return json
    }

    /// Whether it is used at a time, seconds since 1970; one of the future is not believed.
    public func isGood(at second: Int) -> Bool {
        second >= madeSecond - 60 && second - madeSecond < ProviderToken.lifeSeconds
    }

    /// Whether it may be replaced although it is good, since APNs says that it is not.
    public func mayBeReplaced(at second: Int) -> Bool {
        second - madeSecond >= ProviderToken.restSeconds
    }
}
