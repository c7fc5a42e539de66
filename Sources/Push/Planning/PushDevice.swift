import Core

/// A device of a user, as `register_device.lua` stores it.
public struct PushDevice: Sendable, Equatable {
    /// The APNs environment of a token.
    public enum Environment: String, Sendable, CaseIterable {
        /// Builds from TestFlight and the store.
        case production
        /// Builds that Xcode installs.
        case sandbox

        /// The other one.
        public var other: Environment { self == .production ? .sandbox : .production }
    }

    /// The app's id of the device.
    public let id: [UInt8]
    /// The device token, hexadecimal in lower case.
    public let token: [UInt8]
    /// The environment in which the token is valid.
    public let environment: Environment
    /// The name of its time zone.
    public let zone: [UInt8]?
    /// The time of its registration, milliseconds since 1970.
    public let registeredMs: Int

    /// Reads a stored device; `nil` when it is malformed.
    public init?(id: [UInt8], stored text: [UInt8]) {
        guard let json = try? JSON(parsing: text, limits: PushLimits.json),
            let token = json.root["k"]?.stringBytes, (1...PushLimits.tokenBytesMax).contains(token.count),
            token.allSatisfy({ ASCII.hexValue($0) != nil }),
            let environment = json.root["e"]?.string.flatMap(Environment.init(rawValue:)),
            let registeredMs = json.root["r"]?.int, Timestamp.range.contains(registeredMs),
            !id.isEmpty, id.count <= PushLimits.idBytesMax
        else { return nil }
        self.id = id
        self.token = token
        self.environment = environment
        self.zone = json.root["z"]?.stringBytes.flatMap { TimeZone.isName($0) ? $0 : nil }
        self.registeredMs = registeredMs
    }
}
