import Core
import HTTPCodec
import Operations
import Reactors
import Rights
import Service

/// Refuses requests of foreign pages, and logs them.
///
/// Thread: the shard's.
struct PageCheck {
    let context: HTTPContext

    /// The refusal of a request from a page that may not connect; `nil` for any other request.
    ///
    /// `takesAny`: a gateway that lets pages of any origin connect lets this one.
    func refusal(_ head: HTTPRequestHead, _ origin: ClientAddress, takesAny: Bool = true) -> Refusal? {
        guard let refusal = context.gate.refusalOfOrigin(head, isSecure: origin.isSecure, takesAny: takesAny) else {
            return nil
        }
        note(head, origin)
        return refusal
    }

    /// The refusal of a foreign page's request for data that only this machine may read; `nil` for other requests.
    func refusalOfForeign(_ head: HTTPRequestHead, _ origin: ClientAddress) -> Refusal? {
        // A visitor's browser must not fetch what this machine alone may read, whichever pages may connect.
        if context.gate.isOwnHost(head) { return refusal(head, origin, takesAny: false) }
        note(head, origin)
        return Refusal(
            .forbidden, "Host is no name of this gateway: ask by an address, localhost, or a name of its certificate.")
    }

    private func note(_ head: HTTPRequestHead, _ origin: ClientAddress) {
        context.statistics.originsRefused.add(1)
        context.clientLog.write(.origin, nowMs: context.clock.nowMs) {
            [
                ("origin", ClientLog.text(head.headers.values(of: "origin").first ?? [])),
                ("host", ClientLog.text(head.host)), ("path", ClientLog.text(head.path)),
            ] + ClientLog.fields(nil, at: origin.address)
        }
    }
}
