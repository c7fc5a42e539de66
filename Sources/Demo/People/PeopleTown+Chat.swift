import Core

/// People write: one greeting to each visitor, and one answer to what a visitor has written; and they order photos.
extension PeopleTown {
    /// Least time between two pushes to a visitor's phone, milliseconds, and the most of them.
    private static var pushEveryMs: Int { 60_000 }
    private static var pushesMax: Int { 5 }
    /// Time between two orders while a visitor looks on, and the least between any two, milliseconds.
    private static var orderEveryMs: Int { 30_000 }
    private static var orderLeastMs: Int { 8_000 }

    /// The id of a direct conversation: both users, sorted.
    func chat(_ person: Int, with visitor: String) -> String {
        [names[person], visitor].sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.joined(separator: "_")
    }

    /// Asks whether the two have ever written; only then there is no greeting.
    mutating func greet(_ person: Int, _ visitor: String) {
        let members = Members().with("conversationId", chat(person, with: visitor)).with("limit", json: "1")
        ask(person, "messages", members, .greeting(visitor: visitor))
    }

    /// Types for a moment, then sends the words.
    mutating func say(_ person: Int, to visitor: String, _ words: String) {
        let chat = chat(person, with: visitor)
        agenda.add(.type(person, chat: chat), atMs: nowMs)
        agenda.add(.say(person, chat: chat, words: words), atMs: nowMs + chance(1_200...1_800))
    }

    mutating func send(_ person: Int, _ chat: String, _ words: String) {
        messages += 1
        writing.remove(key(person, chat))
        let id = "p-\(run)-\(messages)"
        call(person, "send_message", Members().with("conversationId", chat).with("id", id).with("text", words))
    }

    /// A conversation of a person has changed: a visitor's message is read, and answered once.
    mutating func read(_ person: Int, _ told: JSON.Value) {
        guard let chat = told["id"]?.string, let sender = told["lastSenderId"]?.string, Self.isVisitor(sender),
            let message = told["lastMessageId"]?.string
        else { return }
        let key = key(person, chat)
        guard answered[key] != message else { return }
        if answered.count >= Self.memoryMax { answered = [:] }
        answered[key] = message
        agenda.add(.mark(person, chat: chat, upTo: message), atMs: nowMs + 500)
        guard writing.count < Self.memoryMax, writing.insert(key).inserted else { return }
        let words = PeopleWords.answer(to: told["lastMessage"]?.string ?? "", messages + person)
        agenda.add(.type(person, chat: chat), atMs: nowMs + 900)
        agenda.add(.say(person, chat: chat, words: words), atMs: nowMs + chance(2_200...3_000))
    }

    private func key(_ person: Int, _ chat: String) -> String { "\(person) \(chat)" }

    /// The visitor has closed the app and looks at the phone: somebody writes, so that it is pushed.
    mutating func planPush(_ visitor: String) {
        let last = pushes[visitor] ?? (atMs: -Self.pushEveryMs, count: 0)
        guard nowMs - last.atMs >= Self.pushEveryMs, last.count < Self.pushesMax else { return }
        if pushes.count >= Self.memoryMax { pushes = [:] }
        pushes[visitor] = (nowMs, last.count + 1)
        agenda.add(.push(visitor: visitor), atMs: nowMs + 800)
    }

    /// A visitor looks at the orders: one begins now, or when the last one is over.
    mutating func planOrder() {
        ordersUntilMs = nowMs + 2 * Self.attentionMs
        let atMs = max(nowMs + 300, orderedMs.map { $0 + Self.orderLeastMs } ?? 0)
        if let due = orderDueMs, due <= atMs { return }
        orderDueMs = atMs
        agenda.add(.order, atMs: atMs)
    }

    /// An order, and the next one while somebody looks; one that was planned before an earlier one is left out.
    mutating func order() {
        guard let due = orderDueMs, nowMs >= due else { return }
        orderDueMs = nil
        guard nowMs < ordersUntilMs else { return }
        orders += 1
        orderedMs = nowMs
        orderDueMs = nowMs + Self.orderEveryMs
        decided.append(.order(fails: orders % 4 == 0))
        agenda.add(.order, atMs: nowMs + Self.orderEveryMs)
    }
}
