import Core

/// The actions of the simulated people: they walk, vote, queue songs, and answer visitors, at a person's pace.
///
/// It only decides; ``PeopleRunner`` performs. When nobody has looked at the page for ``attentionMs``, they rest.
/// Bounded: five people, a greeting of two of them for each visitor, one answer to each message, one order in half a
/// minute. Pure: the same generator and the same news give the same actions.
struct PeopleTown<Random: RandomNumberGenerator> {
    /// A future happening.
    enum Happening {
        case upkeep, song, request, vote, ballot, songOver, order
        /// The next step of a walk; a stroll is a step beside it.
        case walk(Int)
        case stroll(Int)
        case track(Int)
        case openSession(attempt: Int)
        case join(Int)
        case agree(Int, song: String)
        case skip(Int, song: String)
        case end(song: String)
        case greet(Int, visitor: String)
        case push(visitor: String)
        case type(Int, chat: String)
        case mark(Int, chat: String, upTo: String)
        case say(Int, chat: String, words: String)
    }

    /// A person on the map, metres east and north of its middle.
    struct Walker {
        var east: Int
        var north: Int
        /// The place to which the person walks.
        var goal: (east: Int, north: Int)
    }

    /// The listening session that the people share.
    struct Session {
        let id: String
        let code: String
        /// The songs that wait.
        var queue: [String] = []
        var current: String?
        /// Whether the people have joined a visitor's wish to skip the current song.
        var isSkipping = false
    }

    /// Milliseconds after a visit during which the people are awake; the page repeats visits each minute.
    static var attentionMs: Int { 150_000 }
    /// Visitors and conversations that are remembered.
    static var memoryMax: Int { 300 }

    let names: [String]
    /// Makes ids unique over runs.
    let run: String
    var random: Random
    var nowMs = 0
    var agenda = DemoAgenda<Happening>()
    var decided: [PeopleAction] = []

    var isHere: [Bool]
    var walkers: [Walker] = []
    var session: Session?
    var tracksPlayed = 0
    var messages = 0
    var orders = 0
    /// Time of the last visit; `nil` before the first.
    var visitedMs: Int?
    /// Until when orders follow each other, when the last one began, and when the next one begins.
    var ordersUntilMs = 0
    var orderedMs: Int?
    var orderDueMs: Int?
    /// The last message that was answered, by person and conversation.
    var answered: [String: String] = [:]
    /// Conversations in which an answer is being written.
    var writing: Set<String> = []
    /// Pushes to a visitor's phone: when the last one was, and how many there were.
    var pushes: [String: (atMs: Int, count: Int)] = [:]

    /// People who are about to begin; `run` distinguishes this run's ids from those of others.
    init(names: [String], run: String, random: Random) {
        (self.names, self.run, self.random) = (names, run, random)
        isHere = names.map { _ in false }
        for _ in names {
            let start = place()
            walkers.append(Walker(east: start.east, north: start.north, goal: place()))
        }
        for person in names.indices {
            agenda.add(.walk(person), atMs: 4_000 + 900 * person)
            agenda.add(.track(person), atMs: 20_000 + 7_000 * person)
        }
        agenda.add(.song, atMs: 5_000)
        agenda.add(.vote, atMs: 3_000)
        agenda.add(.songOver, atMs: 30_000)
        agenda.add(.upkeep, atMs: 60_000)
    }

    /// Whether somebody has looked at the page lately.
    var isWatched: Bool { visitedMs.map { nowMs - $0 < Self.attentionMs } ?? false }

    /// The actions until now; `nowMs` never goes back.
    mutating func due(_ nowMs: Int) -> [PeopleAction] {
        while let atMs = agenda.nextMs, atMs <= nowMs, let (_, happening) = agenda.popFirst() {
            self.nowMs = max(self.nowMs, atMs)
            handle(happening)
        }
        self.nowMs = max(self.nowMs, nowMs)
        defer { decided = [] }
        return decided
    }

    private mutating func handle(_ happening: Happening) {
        switch happening {
        case .walk(let person):
            agenda.add(happening, atMs: nowMs + chance(4_000...6_500))
            if isWatched { walk(person) }
        case .stroll(let person): walk(person)
        case .track(let person):
            agenda.add(happening, atMs: nowMs + chance(35_000...60_000))
            if isWatched { play(person) }
        case .upkeep: upkeep(happening)
        case .openSession(let attempt): openSession(attempt)
        case .join(let person): join(person)
        case .song:
            agenda.add(happening, atMs: nowMs + chance(6_000...9_000))
            if isWatched { addSong() }
        case .request: addSong()
        case .vote:
            agenda.add(happening, atMs: nowMs + chance(2_500...4_500))
            if isWatched { vote() }
        case .ballot: vote()
        case .songOver:
            agenda.add(happening, atMs: nowMs + 30_000)
            if isWatched { endSong() }
        case .agree(let person, let song): vote(person, on: song, 1)
        case .skip(let person, let song): skip(person, song)
        case .end(let song): end(song)
        case .greet(let person, let visitor): greet(person, visitor)
        case .push(let visitor): say(2, to: visitor, PeopleWords.push(chance(0...999)))
        case .type(let person, let chat): call(person, "typing", Members().with("conversationId", chat))
        case .mark(let person, let chat, let upTo):
            call(person, "read", Members().with("conversationId", chat).with("upTo", upTo))
        case .say(let person, let chat, let words): send(person, chat, words)
        case .order: order()
        }
    }

    // MARK: News

    /// A person's connection is open.
    mutating func arrived(_ person: Int) {
        isHere[person] = true
        decided.append(.subscribe(person: person, topic: "user:" + names[person]))
        call(person, "set_listener", Members().with("displayName", PeopleWords.display(names[person])))
        call(person, "set_privacy", Members().with("visible", "everyone").with("rounding", json: "0"))
        putPlace(person)
        play(person)
        if person == host {
            ask(person, "current_listening", Members(), .session)
        } else if session != nil {
            join(person)
        }
    }

    /// A person's connection has ended; it will be opened again.
    mutating func left(_ person: Int) { isHere[person] = false }

    /// A guest looks at a tab.
    mutating func visited(_ visit: DemoPeople.Visit) {
        let wasWatched = isWatched
        visitedMs = nowMs
        if !wasWatched {
            for person in names.indices { agenda.add(.stroll(person), atMs: nowMs + 300 + 350 * person) }
            for atMs in [600, 1_500, 2_400] { agenda.add(.ballot, atMs: nowMs + atMs) }
        }
        switch visit.tab {
        case "chat":
            agenda.add(.greet(0, visitor: visit.user), atMs: nowMs + 400)
            agenda.add(.greet(1, visitor: visit.user), atMs: nowMs + 2_500)
        case "orders":
            planOrder()
        case "phone": planPush(visit.user)
        default: break
        }
    }

    /// An event that a person received.
    mutating func heard(_ person: Int, _ event: String, _ told: JSON.Value) {
        switch event {
        case "conversation:updated": read(person, told)
        case "nearby:enter", "nearby:move": meet(person, told)
        case "queue.updated": see(told)
        case "now_playing.updated":
            session?.current = told["current_song"]?["id"]?.string
            session?.isSkipping = false
        case "session.updated": if (told["skip_request_count"]?.int ?? 0) > 0 { joinSkip() }
        default: break
        }
    }

    /// The answer to a call, or the code with which it was refused.
    mutating func answered(_ call: PeopleCall, _ told: JSON.Value?, refusal: String?) {
        switch call.purpose {
        case .none: break
        case .session: learnSession(told)
        case .creation(let attempt): created(told, attempt, refusal: refusal)
        case .greeting(let visitor):
            guard let messages = told?["messages"], messages.kind == .array,
                messages.members.allSatisfy({ _ in false })
            else { return }
            say(call.person, to: visitor, PeopleWords.greeting(call.person))
        }
    }

    // MARK: Small things

    /// The person who hosts the session: the last one.
    var host: Int { names.count - 1 }

    mutating func call(_ person: Int, _ command: String, _ arguments: Members) {
        ask(person, command, arguments, .none)
    }

    /// Adds a call to the decided actions, of a person who is connected.
    mutating func ask(_ person: Int, _ command: String, _ arguments: Members, _ purpose: PeopleCall.Purpose) {
        guard isHere[person] else { return }
        decided.append(
            .call(PeopleCall(person: person, command: command, arguments: arguments.json, purpose: purpose)))
    }

    mutating func chance(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }

    /// Whether a user is a visitor; people answer nobody else, so that two of them never go on for ever.
    static func isVisitor(_ user: String) -> Bool { user.hasPrefix("guest-") }
}
