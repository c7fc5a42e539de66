import Core

/// The token that authenticates a team, and the rules of its renewal.
///
/// APNs refuses tokens older than an hour and penalises senders that make them more often than every 20 minutes. So
/// couriers share one, under a key of Redis that expires when the token is to be renewed.
public struct ProviderToken: Sendable, Equatable {
    /// The time of its creation, seconds since 1970.
    public let madeSecond: Int
    /// The token, ASCII.
    public let text: [UInt8]

    /// Seconds after which a token is renewed.
    public static let lifeSeconds = 3_000
    /// Seconds after the last token in which no new one is made.
    public static let restSeconds = 1_260

    /// A token that was made.
    public init(madeSecond: Int, text: [UInt8]) {
        self.madeSecond = madeSecond
        self.text = text
    }

    /// Reads the shared text, `SECOND TOKEN`; `nil` for anything else.
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

    /// The text that couriers share.
    public var shared: [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(decimal: madeSecond)
        return bytes + [UInt8(ascii: " ")] + text
    }

    /// The claims of a token, JSON text.
    public static func claims(team: [UInt8], second: Int) -> [UInt8] {
        var json = [UInt8(ascii: "{")]
        json.append(member: "iss", string: team)
        json.append(member: "iat", number: second)
        json.append(UInt8(ascii: "}"))
        return json
    }

    /// Whether it may be used at a time, seconds since 1970; a token from the future may not.
    public func isGood(at second: Int) -> Bool {
        second >= madeSecond - 60 && second - madeSecond < ProviderToken.lifeSeconds
    }

    /// Whether it may be replaced before its renewal, since APNs refused it.
    public func mayBeReplaced(at second: Int) -> Bool {
        second - madeSecond >= ProviderToken.restSeconds
    }
}
