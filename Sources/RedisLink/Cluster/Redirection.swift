import Core

/// A node's redirection of a call: `MOVED slot host:port` or `ASK slot host:port`.
public struct Redirection: Equatable, Sendable {
    /// The duration for which it holds.
    public enum Kind: Equatable, Sendable {
        /// `MOVED`: the slot belongs there from now on.
        case moved
        /// `ASK`: for this call only, since the slot is moving there; `ASKING` is sent before it.
        case ask
    }

    /// The duration for which it holds.
    public let kind: Kind
    /// The slot of the call's keys.
    public let slot: Int
    /// The address to send the call to; the host is empty when it is that of the answering node.
    public let address: ClusterAddress

    /// Reads an error line; `nil` for every other line, and for a malformed one.
    public init?(_ line: some Collection<UInt8>) {
        let words = Array(line).split(separator: UInt8(ascii: " "), maxSplits: 3)
        guard words.count == 3, let slot = ASCII.decimal(words[1]), slot < HashSlot.count,
            let address = ClusterAddress(words[2])
        else { return nil }
        switch words[0] {
        case let word where word.elementsEqual("MOVED".utf8): kind = .moved
        case let word where word.elementsEqual("ASK".utf8): kind = .ask
        default: return nil
        }
        self.slot = slot
        self.address = address
    }
}
