import RedisLink
import Testing

@testable import Operations

@Suite struct OutboxBookTests {
    @Test func aWarningStandsFromTheOldEntryOnUntilItIsDone() {
        var book = OutboxBook(lateMs: 5_000)
        book.learned(OutboxFigures(entries: 3, oldestMs: 4_999))
        #expect(book.state == .fine() && book.figures?.entries == 3)
        book.learned(OutboxFigures(entries: 3, oldestMs: 5_000))
        #expect(book.state == .warned(figures: [("entries", "3"), ("oldestSeconds", "5")]))
        // While nobody knows, nothing says that it is mended.
        book.learned(nil)
        #expect(book.figures == nil && book.state.severity == .warned)
        book.learned(OutboxFigures(entries: 0, oldestMs: 0))
        #expect(book.state == .fine())
    }

    @Test func figuresAreReadAsTheyAreWritten() {
        let figures = OutboxFigures(entries: 12, oldestMs: 34_567)
        #expect(
            OutboxFigures(figures.text) == figures
                && OutboxFigures(.array([.integer(12), .integer(34_567)])) == figures)
        for wrong in ["", "1", "1 2 3", "a 2", "1 -2", "1 99999999999999999999"] {
            #expect(OutboxFigures(Array(wrong.utf8)) == nil, "\(wrong)")
        }
        #expect(OutboxFigures(.array([.integer(1)])) == nil && OutboxFigures(.null) == nil)
        #expect(figures + OutboxFigures(entries: 1, oldestMs: 99_999) == OutboxFigures(entries: 13, oldestMs: 99_999))
    }
}
