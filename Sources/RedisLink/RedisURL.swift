import Core

/// Where Redis is and how to introduce oneself there.
///
/// `redis://[user:password@]host[:port][/db]`, the same with `rediss://` for TLS, and
/// `unix:///path[?db=n&user=name&password=secret]`; user, password and path are percent-decoded (RFC 3986 section
/// 2.1). A description never shows the password.
public struct RedisURL: Equatable, Sendable {
    /// The two kinds of address.
    public enum Endpoint: Equatable, Sendable {
        /// A host name or address, without brackets, to be resolved at each connect; TLS for `rediss`.
        case network(host: String, port: Int, tls: Bool)
        /// The path of a socket.
        case unix(path: [UInt8])
    }

    /// Where to connect.
    public let endpoint: Endpoint
    /// The ACL user; `nil` is the default user.
    public let user: [UInt8]?
    /// The password; `nil` when the server wants none.
    ///
    /// Never log it.
    public let password: [UInt8]?
    /// The database to select, 0 by default.
    public let database: Int

    /// The port when the URL has none.
    public static let portDefault = 6_379
    private static let bytesMax = 2_048
    /// `sun_path` has 108 bytes with its NUL (unix(7)).
    private static let pathBytesMax = 107
    private static let numberMax = 65_535

    /// Reads a URL, strictly.
    public init(parsing text: String) throws(RedisURLError) {
        let bytes = Array(text.utf8)
        guard bytes.count <= RedisURL.bytesMax, bytes.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else { throw .character }
        guard !bytes.contains(UInt8(ascii: "#")) else { throw .fragment }
        if let rest = RedisURL.rest(bytes, after: "redis://") {
            try self.init(network: rest, tls: false)
        } else if let rest = RedisURL.rest(bytes, after: "rediss://") {
            try self.init(network: rest, tls: true)
        } else if let rest = RedisURL.rest(bytes, after: "unix://") {
            try self.init(unix: rest)
        } else {
            throw .scheme
        }
    }

    private init(network rest: ArraySlice<UInt8>, tls: Bool) throws(RedisURLError) {
        guard !rest.contains(UInt8(ascii: "?")) else { throw .query }
        let slash = rest.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
        var authority = rest[..<slash]
        var (user, password): ([UInt8]?, [UInt8]?) = (nil, nil)
        if let at = authority.lastIndex(of: UInt8(ascii: "@")) {
            let given = authority[..<at]
            // An `@` inside the password must be encoded, or it is not certain where the host begins.
            guard !given.contains(UInt8(ascii: "@")) else { throw .character }
            guard let colon = given.firstIndex(of: UInt8(ascii: ":")) else { throw .credentials }
            let name = try RedisURL.decode(given[..<colon])
            let secret = try RedisURL.decode(given[(colon + 1)...])
            guard !secret.isEmpty else { throw .credentials }
            user = name.isEmpty ? nil : name
            password = secret
            authority = authority[(at + 1)...]
        }
        let (host, port) = try RedisURL.address(authority)
        (self.user, self.password) = (user, password)
        endpoint = .network(host: host, port: port, tls: tls)
        let tail = rest[slash...].dropFirst()
        database = tail.isEmpty ? 0 : try RedisURL.number(tail, 0...RedisURL.numberMax, else: .database)
    }

    private init(unix rest: ArraySlice<UInt8>) throws(RedisURLError) {
        let mark = rest.firstIndex(of: UInt8(ascii: "?")) ?? rest.endIndex
        let path = try RedisURL.decode(rest[..<mark])
        guard path.first == UInt8(ascii: "/"), path.count > 1, path.count <= RedisURL.pathBytesMax else { throw .path }
        var database: Int?
        var user: [UInt8]?
        var password: [UInt8]?
        let query = rest[mark...].dropFirst()
        if mark < rest.endIndex && query.isEmpty { throw .query }
        for pair in query.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false) where !query.isEmpty {
            guard let equals = pair.firstIndex(of: UInt8(ascii: "=")) else { throw .query }
            let value = pair[(equals + 1)...]
            switch String(decoding: pair[..<equals], as: UTF8.self) {
            case "db" where database == nil:
                database = try RedisURL.number(value, 0...RedisURL.numberMax, else: .database)
            case "user" where user == nil: user = try RedisURL.decode(value)
            case "password" where password == nil: password = try RedisURL.decode(value)
            default: throw .query
            }
        }
        if password?.isEmpty == true || (user != nil && password == nil) { throw .credentials }
        endpoint = .unix(path: path)
        self.user = user?.isEmpty == true ? nil : user
        self.password = password
        self.database = database ?? 0
    }

    /// The calls that introduce a new connection: `AUTH` and `SELECT`, as far as the URL asks for them.
    public var greeting: [RedisCall] {
        var calls: [RedisCall] = []
        if let password {
            var call = RedisCall("AUTH")
            if let user { call.append(user) }
            call.append(password)
            calls.append(call)
        }
        if database != 0 {
            var call = RedisCall("SELECT")
            call.append(decimal: database)
            calls.append(call)
        }
        return calls
    }

    private static func rest(_ bytes: [UInt8], after scheme: String) -> ArraySlice<UInt8>? {
        guard ASCII.equalIgnoringCase(bytes.prefix(scheme.utf8.count), Array(scheme.utf8)) else { return nil }
        return bytes.dropFirst(scheme.utf8.count)
    }

    private static func address(_ authority: ArraySlice<UInt8>) throws(RedisURLError) -> (String, Int) {
        var host = authority
        var port: ArraySlice<UInt8>?
        if authority.first == UInt8(ascii: "[") {
            guard let close = authority.firstIndex(of: UInt8(ascii: "]")) else { throw .host }
            host = authority[(authority.startIndex + 1)..<close]
            let after = authority[(close + 1)...]
            guard after.isEmpty || after.first == UInt8(ascii: ":") else { throw .host }
            port = after.isEmpty ? nil : after.dropFirst()
            let valid = host.allSatisfy { ASCII.hexValue($0) != nil || $0 == 0x3a || $0 == 0x2e }
            guard valid, host.contains(0x3a), host.count <= 45 else { throw .host }
        } else {
            if let colon = authority.lastIndex(of: UInt8(ascii: ":")) {
                host = authority[..<colon]
                port = authority[(colon + 1)...]
            }
            let valid = host.allSatisfy {
                ASCII.isLetter($0) || ASCII.isDigit($0) || $0 == 0x2d || $0 == 0x2e || $0 == 0x5f
            }
            guard valid, !host.isEmpty, host.count <= 253, host.first != 0x2d, host.first != 0x2e else { throw .host }
        }
        let number = try port.map { text throws(RedisURLError) in try RedisURL.number(text, 1...numberMax, else: .port)
        }
        return (String(decoding: host, as: UTF8.self), number ?? portDefault)
    }

    private static func number(
        _ text: ArraySlice<UInt8>, _ range: ClosedRange<Int>, else error: RedisURLError
    ) throws(RedisURLError) -> Int {
        guard let value = ASCII.decimal(text), range.contains(value) else { throw error }
        return value
    }

    private static func decode(_ text: ArraySlice<UInt8>) throws(RedisURLError) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(text.count)
        var rest = text
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                result.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(ASCII.hexValue), let low = rest.popFirst().flatMap(ASCII.hexValue),
                high << 4 | low != 0
            else { throw .percent }
            result.append(high << 4 | low)
        }
        return result
    }
}
