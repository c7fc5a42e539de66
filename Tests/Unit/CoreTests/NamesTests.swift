import Testing

@testable import Core

/// The grammars of positions, event names and message ids.
@Suite struct NamesTests {
    /// The bytes, among all 256, of which a name of one byte may consist.
    private func alphabet(_ accepts: ([UInt8]) -> Bool) -> String {
        String(decoding: (UInt8(0)...255).filter { accepts([$0]) }, as: UTF8.self)
    }

    private let digits = "0123456789"
    private let upper = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    private let lower = "abcdefghijklmnopqrstuvwxyz"

    @Test func alphabetsAreExact() {
        #expect(alphabet { Position.isEpoch($0) } == "-" + digits + upper + "_" + lower)
        #expect(alphabet { EventName.isValid($0) } == "-./" + digits + ":" + upper + "_" + lower)
        #expect(alphabet { MessageID([0x61] + $0) != nil } == "-." + digits + ":" + upper + "_" + lower + "~")
    }

    @Test func lengthsAreBoundedAtTheLimitAndNotBefore() {
        func name(_ count: Int) -> [UInt8] { [UInt8](repeating: 0x61, count: count) }
        #expect(Position.isEpoch(name(1)) && Position.isEpoch(name(32)))
        #expect(!Position.isEpoch(name(0)) && !Position.isEpoch(name(33)))
        #expect(EventName.isValid(name(1)) && EventName.isValid(name(64)))
        #expect(!EventName.isValid(name(0)) && !EventName.isValid(name(65)))
        #expect(MessageID(name(1)) != nil && MessageID(name(128)) != nil)
        #expect(MessageID(name(0)) == nil && MessageID(name(129)) == nil)
    }

    @Test func positionsHaveAnEpochAndNoNegativeOffset() {
        #expect(Position(epoch: Array("k3x9".utf8), offset: 0)?.offset == 0)
        #expect(Position(epoch: Array("k3x9".utf8), offset: Int.max) != nil)
        #expect(Position(epoch: Array("k3x9".utf8), offset: -1) == nil)
        #expect(Position(epoch: Array("k3x9".utf8), offset: Int.min) == nil)
        #expect(Position(epoch: [], offset: 1) == nil)
        #expect(Position(epoch: Array("k 9".utf8), offset: 1) == nil)
    }

    @Test(arguments: ["queue:update", "feed:new_post", "votes.updated", "a/b", "A-1"])
    func eventNamesInUseAreValid(_ name: String) {
        #expect(EventName(name)?.description == name)
    }

    @Test(arguments: ["", "a b", "a\"", "a\\", "a\n", "é", "e\u{301}", "a\0", "a{", "a~"])
    func eventNamesThatNeedEscapesAreRefused(_ name: String) {
        #expect(EventName(name) == nil)
    }

    @Test(arguments: [
        "authenticated", "subscribed", "unsubscribed", "ack", "pong", "gap", "draining", "token:expiring", "warning",
        "error",
    ])
    func theGatewaysOwnWordsAreReserved(_ name: String) throws {
        #expect(try #require(EventName(name)).isReserved)
        #expect(try !#require(EventName(name + "s")).isReserved)
        #expect(try !#require(EventName("x:" + name)).isReserved)
        #expect(try !#require(EventName(name.uppercased())).isReserved, "names are compared exactly")
    }

    @Test func aLoneHyphenIsNoMessageID() {
        #expect(MessageID(Array("-".utf8)) == nil)
        #expect(MessageID(Array("--".utf8)) != nil)
        #expect(MessageID(Array("a#b".utf8)) == nil, "# separates the facets of keys")
    }
}
