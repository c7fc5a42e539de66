import Testing

@testable import Calls

/// Questions to services outside: asked once, answered once, bounded.
@Suite struct AskBookTests {
    private typealias Book = PendingRequests<String>
    private var book = Book(questionsMax: 2, waitersMax: 4)

    private static func question(_ request: String, command: String = "find") -> Book.Question {
        Book.Question(command: command, request: Array(request.utf8))
    }

    private mutating func ask(_ request: String, id: UInt8, _ waiter: String, command: String = "find") -> Book.Asked {
        book.ask(AskBookTests.question(request, command: command), id: [id], dueMs: Int(id) * 10, waiter)
    }

    @Test mutating func whoAsksTheSameSharesTheAnswer() {
        #expect(ask("a", id: 1, "x") == .first)
        #expect(ask("a", id: 2, "y") == .shared)
        #expect(book.count == 1 && book.waits([1]) && !book.waits([2]))
        #expect(book.take([2]) == [])
        #expect(book.take([1]) == ["x", "y"])
        #expect(book.take([1]) == [] && book.count == 0)
        #expect(ask("a", id: 3, "z") == .first, "what was answered is asked anew")
    }

    @Test mutating func commandsShareNothing() {
        #expect(ask("a", id: 1, "x") == .first)
        #expect(ask("a", id: 2, "y", command: "other") == .first)
        #expect(book.take([2]) == ["y"])
    }

    @Test mutating func questionsAndWaitersAreBounded() {
        #expect(ask("a", id: 1, "1") == .first)
        #expect(ask("b", id: 2, "2") == .first)
        #expect(ask("c", id: 3, "3") == .full)
        #expect(ask("a", id: 3, "3") == .shared)
        #expect(ask("b", id: 3, "4") == .shared)
        #expect(ask("a", id: 3, "5") == .full)
        #expect(book.take([1]) == ["1", "3"])
        #expect(ask("c", id: 3, "3") == .first, "there is room again")
    }

    @Test mutating func whatWaitsTooLongIsDue() {
        #expect(ask("a", id: 1, "x") == .first)
        #expect(ask("b", id: 2, "y") == .first)
        #expect(book.due(nowMs: 9).isEmpty)
        #expect(book.due(nowMs: 10) == [[1]])
        #expect(Set(book.due(nowMs: 20)) == [[1], [2]])
        #expect(book.take([1]) == ["x"] && book.due(nowMs: 20) == [[2]])
    }
}
