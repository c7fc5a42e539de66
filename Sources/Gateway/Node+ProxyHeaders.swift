import Configuration
import Core
import Service
import Synchronization

/// Detection of a proxy and a listener that do not match: nothing works, and neither reports the reason.
extension Node {
    /// Logs once what is wrong with PROXY headers on a listener, and the mend.
    func tell(_ reason: CloseReason, onTLS: Bool) {
        guard !hasToldProxyHeaders.exchange(true, ordering: .relaxed) else { return }
        let (listener, word) = onTLS ? ("--listen", "tls") : ("--listen-plain", "plain")
        let isExpected = onTLS ? proxyProtocol.onTLS : proxyProtocol.onPlain
        let mend =
            switch (reason, isExpected) {
            case (.strayProxyHeader, false): "give --proxy-protocol \(word), and --trust-proxy with the proxy's address"
            case (.strayProxyHeader, true): "give --trust-proxy with the address of the proxy that sends it"
            default: "let the proxy send it (nginx: proxy_protocol on), or take --proxy-protocol \(word) away"
            }
        let message =
            reason == .strayProxyHeader
            ? "a PROXY header came where none is expected"
            : "a trusted proxy's connection begins without a PROXY header"
        log.write(.warn, message, [("listener", listener), ("mend", mend)])
    }
}
