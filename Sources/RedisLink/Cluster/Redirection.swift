import Core

/// Where a node sends a call to: `MOVED slot host:port` or `ASK slot host:port`.
public struct Redirection: Equatable, Sendable {
    /// For how long it holds.
    public enum Kind: Equatable, Sendable {
        /// `MOVED`: the slot belongs there from now on.
        case moved
        /// `ASK`: for this call only, since the slot is on its way there; `ASKING` goes before it.
        case ask
    }

    /// For how long it holds.
    public let kind: Kind
    /// The slot of the call's keys.
    public let slot: Int
    /// Where it is to go; the host is empty when it is the one that answered.
    public let address: ClusterAddress

    /// Reads an error line; `nil` for every other one, and for one that is broken.
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
