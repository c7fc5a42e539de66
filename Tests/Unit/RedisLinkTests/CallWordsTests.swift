import Testing

@testable import RedisLink

@Suite struct CallWordsTests {
    @Test(arguments: [0, 1, 9, 10, 11, 99, 100, 101, 1_000, 100_000])
    func aWordWrittenInPlaceIsTheSameAsOneThatIsCopied(_ length: Int) {
        let word = (0..<length).map { UInt8(truncatingIfNeeded: $0) }
        var (copied, written) = (CallWords(), CallWords())
        for words in 0..<3 {
            copied.append(word)
            written.append { $0.append(contentsOf: word) }
            #expect(written == copied)
            #expect(written.count == words + 1)
        }
        copied.append("end")
        written.append("end")
        #expect(written.all == [word, word, word, bytes("end")])
        #expect(written == copied)
    }
}
