import Core
import Dialects
import Testing

/// What nodes say to each other about sessions that poll, byte by byte.
@Suite struct EngineHopTests {
    private static let table: [(RelayMessage, String)] = [
        (.fetch(number: 7, session: Array("n.0.x".utf8)), "F 7 n.0.x"),
        (.send(number: 8, session: Array("n.0.x".utf8), body: Array("40\u{1e}3".utf8)), "S 8 n.0.x\n40\u{1e}3"),
        (.send(number: 8, session: Array("n.0.x".utf8), body: []), "S 8 n.0.x\n"),
        (.release(number: 7, session: Array("n.0.x".utf8)), "R 7 n.0.x"),
        (.abandoned(number: 7, session: Array("n.0.x".utf8)), "X 7 n.0.x"),
        (.answer(number: 7, .packets(Array("6".utf8))), "P 7\n6"),
        (.answer(number: 7, .packets(Array("4a\n\n".utf8))), "P 7\n4a\n\n"),
        (.answer(number: 7, .taken), "T 7"), (.answer(number: 7, .tooLarge), "L 7"),
        (.answer(number: 7, .busy), "B 7"), (.answer(number: 7, .fault(1)), "E 7 1"),
        (.held([1]), "H 1"), (.held([1, 20, 3]), "H 1 20 3"), (.received([4, 5]), "K 4 5"),
        (.waits([2, 6]), "W 2 6"),
        (.asks, "Q"), (.lives, "A"),
    ]

    @Test func eachIsWrittenAndReadInOneWay() {
        for (relay, text) in EngineHopTests.table {
            #expect(SocketIO.text(relay.bytes) == text)
            #expect(RelayMessage(parsing: Array(text.utf8)) == relay, "\(text)")
        }
    }

    @Test(arguments: [
        "", " ", "F", "F 7", "F 7 ", "F  7 s", "F x s", "F -1 s", "F 07 s", "F 7 s t", "F 7 s\n", "f 7 s", "FF 7 s",
        "S 8 s",
        "S 8\nbody", "S 8 s t\nbody", "P 7", "P\n6", "P 7 8\n6", "T", "T 7 8", "T 7\n", "E 7", "E 7 6", "E 7 -1",
        "E 7 1 1",
        "H", "H ", "H 1 ", "H 1 x", "H 1\n2", "K",
        "W", "W 1\n", "Q 1", "Q\n", "A ", "Z 1", "\n", "99999999999999999999",
        "F 99999999999999999999 s",
    ])
    func anythingElseIsRefused(_ text: String) {
        #expect(RelayMessage(parsing: Array(text.utf8)) == nil)
    }

    @Test func listsAndIDsHaveBounds() {
        let numbers = Array(1...RelayMessage.numbersMax)
        #expect(RelayMessage(parsing: RelayMessage.held(numbers).bytes) == .held(numbers))
        #expect(RelayMessage(parsing: RelayMessage.held(numbers + [0]).bytes) == nil)
        let longest = [UInt8](repeating: 0x61, count: 128)
        #expect(RelayMessage(parsing: RelayMessage.fetch(number: 1, session: longest).bytes) != nil)
        #expect(RelayMessage(parsing: RelayMessage.fetch(number: 1, session: longest + [0x61]).bytes) == nil)
    }
}
