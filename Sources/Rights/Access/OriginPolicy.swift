public import Core

/// The web pages that may open a connection (RFC 6455 section 10.2; cross-site WebSocket hijacking).
///
/// The rules, in order:
/// 1. No `Origin`: allowed; it is no browser.
/// 2. More than one `Origin`, or one that is no serialised origin: refused, `*` or not.
/// 3. `null`: refused unless the list contains `null`.
/// 4. `*` in the list: allowed.
/// 5. The list contains it, byte for byte, with default ports filled in: allowed. No wildcard, no suffix, no case
///   folding.
/// 6. It names the host and port to which the request was sent, and the host is the gateway's own: allowed. This is for
///   pages that the gateway itself serves, and for native clients that make an origin of the server's address. On a
///   secure connection the scheme must be https or wss: a page fetched in clear cannot borrow the rights of its secure
///   twin.
///
/// A host is the gateway's own when its certificate has the name, or the list has an origin of that host. An address
/// and `localhost` are its own as well. `Host` alone proves nothing: a page of `evil.example` whose name resolves to
/// this gateway's address (DNS rebinding) sends `Host: evil.example` and that origin. A name cannot be rebound to an
/// address literal, and browsers resolve `localhost` to nothing else.
///
/// Rights never depend on the origin; this only keeps pages from using a visitor's network position. An event stream may
/// take its token from a cookie, which a browser sends by itself. A page of another origin may open such a stream, but
/// cannot read it: no answer has `Access-Control-Allow-Credentials`.
public struct OriginPolicy: Sendable {
    /// The verdict on a request's origin.
    public enum Verdict: Equatable, Sendable {
        /// The request had none.
        case absent
        /// The origin may connect.
        case allowed
        /// The origin may not connect.
        case refused

        /// The refusal for the client; `nil` when it may connect.
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

    /// Checks a request by all its `Origin` fields and its `Host`.
    ///
    /// `secure`: it arrived over TLS, here or at a trusted proxy that reported so. `isOwnName`: whether the gateway's
    /// certificate has a host name. `takesAny`: `*` in the list counts.
    public func judge(
        origins: [[UInt8]], host: [UInt8]?, secure: Bool, takesAny: Bool = true, isOwnName: ([UInt8]) -> Bool
    ) -> Verdict {
        guard let bytes = origins.first else { return .absent }
        guard origins.count == 1 else { return .refused }
        if bytes.elementsEqual("null".utf8) { return allowsNull ? .allowed : .refused }
        if let origin = Origin(bytes, foldingHost: false), (allowsAny && takesAny) || allowed.contains(origin) {
            return .allowed
        }
        guard let own = Origin(bytes, foldingHost: true) else { return .refused }
        guard isAddressed(own, host: host, secure: secure) else { return .refused }
        return isKnown(own.host) || isOwnName(own.host) ? .allowed : .refused
    }

    /// Whether a request was sent to one of the gateway's own names; `true` for one without `Host`.
    ///
    /// A page of a name that was made to resolve to this gateway (DNS rebinding) requests its own origin and so sends
    /// none: only `Host` reveals it.
    public func isOwn(host: [UInt8], isOwnName: ([UInt8]) -> Bool) -> Bool {
        if host.isEmpty { return true }
        guard host.count <= Origin.bytesMax, let (name, _) = Origin.authority(host.map(ASCII.lowercased)) else {
            return false
        }
        return isKnown(name) || isOwnName(name)
    }

    /// The value of `Access-Control-Allow-Origin` for a request's origin; `nil`: send no such field.
    ///
    /// `Access-Control-Allow-Credentials` must never be sent with it. The same list as for connections; the value is
    /// `*` or the origin itself, whose grammar leaves no room for a line break. Answers that carry it, or could have,
    /// need `Vary: Origin`.
    public func accessControlAllowOrigin(_ origins: [[UInt8]]) -> [UInt8]? {
        guard origins.count == 1, let bytes = origins.first else { return nil }
        if bytes.elementsEqual("null".utf8) { return allowsNull ? bytes : nil }
        guard let origin = Origin(bytes, foldingHost: false) else { return nil }
        if allowsAny { return Array("*".utf8) }
        return allowed.contains(origin) ? bytes : nil
    }

    /// Whether the host is the gateway's own without a check of the certificate.
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
