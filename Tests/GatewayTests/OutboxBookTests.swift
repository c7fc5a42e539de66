import RedisLink
import Testing

@testable import Gateway

@Suite struct OutboxBookTests {
    @Test func aWarningStandsFromTheOldEntryOnUntilItIsDone() {
        var book = OutboxBook(lateMs: 5_000)
        let late = OutboxFigures(entries: 3, oldestMs: 5_000)
        var news: [OutboxBook.News?] = [book.learned(OutboxFigures(entries: 3, oldestMs: 4_999), wallMs: 1)]
        #expect(book.warning == nil && book.figures?.entries == 3)
        news.append(book.learned(late, wallMs: 2))
        news.append(book.learned(OutboxFigures(entries: 9, oldestMs: 60_000), wallMs: 3))
        #expect(book.warning?.name == .outbox && book.warning?.sinceMs == 2)
        // While nobody knows, nothing says that it is mended.
        news.append(book.learned(nil, wallMs: 4))
        #expect(book.figures == nil && book.warning?.sinceMs == 2)
        news.append(book.learned(OutboxFigures(entries: 0, oldestMs: 0), wallMs: 5))
        #expect(book.warning == nil && news == [nil, .late(late), nil, nil, .inTime])
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
