import Core
import HTTPCodec

/// The client's address and security, from the connection's peer and from trusted proxies.
struct ClientAddress {
    /// The client's address: as a trusted proxy reports it, or else the peer's own; `nil` for a unix socket.
    let address: IPAddress?
    /// Whether the client used TLS, to the gateway or by the word of a trusted proxy.
    let isSecure: Bool
    /// Whether the client is on this machine, with no unknown proxy in front.
    let isLocal: Bool

    /// Fields that proxies add; on a request from this machine they mean that the client may be elsewhere.
    private static let forwardingFields = ["x-forwarded-for", "forwarded", "x-real-ip", "via"]

    /// Reads the fields that proxies set; `isTrusted` decides which peers' fields are accepted.
    init(_ headers: HTTPHeaders, peer: IPAddress?, overTLS: Bool, isTrusted: (IPAddress?) -> Bool) {
        let isProxy = isTrusted(peer)
        address = isProxy ? ClientAddress.forwarded(headers, isTrusted) ?? peer : peer
        if isProxy, case .one(let scheme) = headers.single("x-forwarded-proto"), scheme.elementsEqual("https".utf8) {
            isSecure = true
        } else {
            isSecure = overTLS
        }
        let isProxied = ClientAddress.forwardingFields.contains { !headers.values(of: $0).isEmpty }
        isLocal = address?.isLoopback == true && (isProxy || !isProxied)
    }

    /// The last address of `X-Forwarded-For` that is not itself a trusted proxy.
    private static func forwarded(_ headers: HTTPHeaders, _ isTrusted: (IPAddress?) -> Bool) -> IPAddress? {
        for token in headers.tokens(of: "x-forwarded-for").reversed() {
            guard let address = IPAddress(text: token) else { return nil }
            if !isTrusted(address) { return address }
        }
        return nil
    }
}
