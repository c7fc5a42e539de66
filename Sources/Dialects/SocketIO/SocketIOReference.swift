import Core

/// The content of a Socket.IO request's ``Reference``: the acknowledgement that its answer becomes.
///
/// Written as `DOOR.ACK`, or `DOOR.ACK.BATCH` for one of several answers in one acknowledgement. Session numbers are
/// used once on a connection, so the same acknowledgement number in two namespaces is two operations.
struct SocketIOReference: Equatable, Sendable {
    let sessionID: Int
    let ackID: Int
    let batch: Int?

    init(sessionID: SessionID, ackID: Int, batch: Int? = nil) {
        self.sessionID = sessionID.number
        self.ackID = ackID
        self.batch = batch
    }

    init?(_ reference: Reference) {
        let parts = reference.bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        let numbers = parts.compactMap { ASCII.decimal($0) }
        guard numbers.count == parts.count, numbers.count == 2 || numbers.count == 3 else { return nil }
        sessionID = numbers[0]
        ackID = numbers[1]
        batch = numbers.count == 3 ? numbers[2] : nil
    }

    var reference: Reference? {
        var text: [UInt8] = []
        text.append(decimal: sessionID)
        text.append(UInt8(ascii: "."))
        text.append(decimal: ackID)
        if let batch {
            text.append(UInt8(ascii: "."))
            text.append(decimal: batch)
        }
        return Reference(text)
    }
}
