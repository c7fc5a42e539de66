public import Core

/// Which web pages may open a connection (RFC 6455 section 10.2; cross-site WebSocket hijacking).
///
/// The rules, in order:
/// 1. No `Origin`: allowed; it is no browser.
/// 2. More than one `Origin`, or one that is no serialised origin: refused, `*` or not.
/// 3. `null`: refused unless the list holds `null`.
/// 4. `*` in the list: allowed.
/// 5. The list holds it, byte for byte, default ports filled in: allowed. No wildcard, no suffix, no case folding.
/// 6. It names the very host and port the request was sent to, and the host is one that the gateway knows to be its own:
///    allowed, for pages the gateway itself serves and for native clients that make up an origin of the server's
///    address. On a secure connection the scheme must be https or wss, so that a page fetched in clear cannot
///    borrow the rights of its secure twin.
///
/// A host is the gateway's own when its certificate bears the name, when the list holds an origin of that host, or when it
/// is an address or `localhost`. `Host` alone proves nothing: a page of `evil.example` whose name is made to lead to
/// this gateway's address (DNS rebinding) sends `Host: evil.example` and that origin. A name cannot be rebound to an
/// address literal, and browsers let `localhost` lead nowhere else.
///
/// Rights never rest on the origin nor on cookies; this only keeps pages from using a visitor's network position.
public struct OriginPolicy: Sendable {
    /// What became of a request's origin.
    public enum Verdict: Equatable, Sendable {
        /// There was none.
        case absent
        /// It may connect.
        case allowed
        /// It may not.
        case refused

        /// What the client is told; `nil` when it may connect.
        public var refusal: Refusal? {
            guard self == .refused else { return nil }
            return Refusal(.forbidden, "This origin may not connect; it is not in the server's allow-origin list.")
        }
    }

    private let allowed: Set<Origin>
    private let allowedHosts: Set<[UInt8]>
    private let allowsAny: Bool
    private let allowsNull: Bool

    /// The most entries of the list.
    public static let entriesMax = 1_024

    /// Reads an allow-list of `scheme://host[:port]`, `null` and `*`; empty allows the gateway's own pages only.
    public init(allowing list: [String]) throws(RightsProblem) {
        guard list.count <= OriginPolicy.entriesMax else {
            throw .origin("more than \(OriginPolicy.entriesMax) entries")
        }
        var allowed: Set<Origin> = []
        for text in list where !OriginPolicy.isWord(text) {
            guard let origin = Origin(Array(text.utf8), foldingHost: false) else {
                throw .origin("\(text): expected scheme://host[:port] in lower case, without path or slash at the end")
            }
            guard allowed.insert(origin).inserted else { throw .origin("\(text): named twice") }
        }
        self.allowed = allowed
        self.allowedHosts = Set(allowed.map(\.host))
        self.allowsAny = list.contains { $0.utf8.elementsEqual("*".utf8) }
        self.allowsNull = list.contains { $0.utf8.elementsEqual("null".utf8) }
    }

    /// Judges a request by all its `Origin` fields and its `Host`.
    ///
    /// `secure` tells whether it came over TLS, here or at a trusted proxy that said so. `isOwnName` tells whether the gateway's certificate bears a host name.
    public func judge(
        origins: [[UInt8]], host: [UInt8]?, secure: Bool, isOwnName: ([UInt8]) -> Bool
    ) -> Verdict {
        guard let bytes = origins.first else { return .absent }
        guard origins.count == 1 else { return .refused }
        if bytes.elementsEqual("null".utf8) { return allowsNull ? .allowed : .refused }
        if let origin = Origin(bytes, foldingHost: false), allowsAny || allowed.contains(origin) { return .allowed }
        guard let own = Origin(bytes, foldingHost: true) else { return .refused }
        guard isAddressed(own, host: host, secure: secure) else { return .refused }
        return isKnown(own.host) || isOwnName(own.host) ? .allowed : .refused
    }

    /// Whether a request was sent to a name that the gateway knows to be its own; so was one without `Host`.
    ///
    /// A page of a name that was made to lead here (DNS rebinding) asks its own origin and so shows none: `Host` alone
    /// betrays it.
    public func isOwn(host: [UInt8], isOwnName: ([UInt8]) -> Bool) -> Bool {
        if host.isEmpty { return true }
        guard host.count <= Origin.bytesMax, let (name, _) = Origin.authority(host.map(ASCII.lowercased)) else {
            return false
        }
        return isKnown(name) || isOwnName(name)
    }

    /// The value of `Access-Control-Allow-Origin` for a request's origin; `nil`: send no such field.
    ///
    /// `Access-Control-Allow-Credentials` must never be sent with it. The same list as for connections; the value
    /// is `*` or the origin itself, whose grammar leaves no room for a line break. Answers that carry it, or could
    /// have, need `Vary: Origin`.
    public func accessControlAllowOrigin(_ origins: [[UInt8]]) -> [UInt8]? {
        guard origins.count == 1, let bytes = origins.first else { return nil }
        if bytes.elementsEqual("null".utf8) { return allowsNull ? bytes : nil }
        guard let origin = Origin(bytes, foldingHost: false) else { return nil }
        if allowsAny { return Array("*".utf8) }
        return allowed.contains(origin) ? bytes : nil
    }

    /// Whether the host is ours without a look at the certificate.
    private func isKnown(_ host: [UInt8]) -> Bool {
        allowedHosts.contains(host) || host.elementsEqual("localhost".utf8) || host.first == UInt8(ascii: "[")
            || IPAddress(version4: host) != nil
    }

    /// Whether the origin names the host and port that the request was sent to.
    private func isAddressed(_ origin: Origin, host: [UInt8]?, secure: Bool) -> Bool {
        guard let implied = Origin.defaultPort(of: origin.scheme), let host, host.count <= Origin.bytesMax,
            let (name, port) = Origin.authority(host.map(ASCII.lowercased))
        else { return false }
        if secure && implied != 443 { return false }
        return name == origin.host && (port ?? implied) == origin.port
    }

    private static func isWord(_ text: String) -> Bool {
        text.utf8.elementsEqual("*".utf8) || text.utf8.elementsEqual("null".utf8)
    }
}
