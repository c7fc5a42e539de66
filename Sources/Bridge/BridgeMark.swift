import Core

/// A mark in the emitters' messages: which node publishes the messages that follow it.
///
/// The node that holds the lease publishes one with each renewal. All nodes receive marks and messages in one order, so
/// a mark and the number of messages since name a message alike on all of them.
struct BridgeMark: Equatable {
    /// The node that publishes what follows.
    let node: [UInt8]
    /// A random text that names the mark.
    let tag: [UInt8]
    /// The mark before which the node knows of no message that is not published yet; `nil` where it knows none.
    let done: [UInt8]?
    /// Whether the node ends soon, so that any other one is to take its place.
    let isYielding: Bool

    init(node: [UInt8], tag: [UInt8], done: [UInt8]?, isYielding: Bool) {
        (self.node, self.tag, self.done, self.isYielding) = (node, tag, done, isYielding)
    }

    /// Reads `NODE TAG DONE STATE`; `nil` for anything else.
    init?(_ payload: [UInt8]) {
        let words = payload.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        guard words.count == 4,
            words.allSatisfy({ $0.count <= 64 && MessageID($0) != nil || $0.elementsEqual("-".utf8) })
        else { return nil }
        self.init(
            node: Array(words[0]), tag: Array(words[1]), done: words[2].elementsEqual("-".utf8) ? nil : Array(words[2]),
            isYielding: words[3].elementsEqual("yield".utf8))
    }

    /// The text of the mark.
    var payload: [UInt8] {
        var text = node + [UInt8(ascii: " ")] + tag + [UInt8(ascii: " ")] + (done ?? [UInt8(ascii: "-")])
        text.append(text: isYielding ? " yield" : " keep")
        return text
    }
}
