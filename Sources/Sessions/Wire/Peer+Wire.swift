public import Core
import Dialects

/// The part of a peer that an operator's tap sees, beside its messages.
extension Peer {
    /// A frame of the transport's own has passed.
    public func passed(_ direction: WireTap.Direction, _ kind: WireTap.Kind, _ payload: [UInt8] = []) {
        tap?.note(direction, kind, payload)
    }

    /// The transport begins to close the connection.
    public func closes(_ reason: CloseReason) {
        tap?.closes(reason)
    }

    func show(to tap: WireTap) {
        self.tap?.end(.replaced)
        self.tap = tap
        tap.began(on: self)
        connectEvents()
    }

    /// Takes a tap off that has ended; another one stays.
    func remove(_ tap: WireTap) {
        guard self.tap === tap else { return }
        self.tap = nil
        connectEvents()
    }
}
