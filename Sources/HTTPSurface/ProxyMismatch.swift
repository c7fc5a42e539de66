public import Configuration
import Core
public import Service
import Synchronization

/// Detects a proxy and a listener that do not match: nothing works, and neither reports the reason.
///
/// Thread: any.
public final class ProxyMismatch: Sendable {
    private let expected: ProxyProtocol
    private let log: Log
    private let isReported = Atomic<Bool>(false)

    /// Writes to `log` about listeners that expect PROXY headers as in `expected`.
    public init(_ expected: ProxyProtocol, log: Log) {
        self.expected = expected
        self.log = log
    }

    /// Logs once what is wrong with PROXY headers on a listener, and the mend.
    func report(_ reason: CloseReason, onTLS: Bool) {
        guard !isReported.exchange(true, ordering: .relaxed) else { return }
        let (listener, word) = onTLS ? ("--listen", "tls") : ("--listen-plain", "plain")
        let isExpected = onTLS ? expected.onTLS : expected.onPlain
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
