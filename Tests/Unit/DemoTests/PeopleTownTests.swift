import Core
import TestSupport
import Testing

@testable import Demo

@Suite struct PeopleTownTests {
    private static let names = ["maya", "omar", "lena", "kofi", "yuki"]
    private static let host = 4
    private static let weekMs = 7 * 24 * 3_600_000

    private static func json(_ text: String) throws -> JSON.Value {
        try JSON(parsing: Array(text.utf8), limits: JSON.Limits(depthMax: 16, elementsMax: 1_000)).root
    }

    /// People whose connections are open, in a session if `isHosting`.
    private func town(seed: UInt64 = 1, isHosting: Bool = false) throws -> PeopleTown<Seeded> {
        var town = PeopleTown(names: Self.names, run: "r", random: Seeded(seed))
        for person in Self.names.indices { town.arrived(person) }
        guard isHosting else { return town }
        let call = PeopleCall(person: Self.host, command: "", arguments: [], purpose: .session)
        town.answered(
            call,
            try Self.json(
                #"{"session":{"id":"s","join_code":"CUTCLUB","host":{"id":"yuki"}},"queue":[{"id":"q1"},{"id":"q2"}],"#
                    + #""current_song":{"id":"q0"}}"#), refusal: nil)
        _ = town.due(1_500)
        return town
    }

    private func calls(_ actions: [PeopleAction], _ command: String) -> [(person: Int, arguments: String)] {
        actions.compactMap { action in
            guard case .call(let call) = action, call.command == command else { return nil }
            return (call.person, String(decoding: call.arguments, as: UTF8.self))
        }
    }

    @Test func everybodyIsOnTheMapAndHearsOfItselfAtOnce() throws {
        var town = try town()
        let actions = town.due(0)
        for (person, name) in Self.names.enumerated() {
            #expect(actions.contains(.subscribe(person: person, topic: "user:\(name)")))
            #expect(calls(actions, "set_location").contains { $0.person == person })
            #expect(calls(actions, "set_track").contains { $0.person == person })
        }
        #expect(calls(actions, "current_listening").map(\.person) == [Self.host])
    }

    @Test func aVisitorIsGreetedByTwoPeopleWhoHaveNotWrittenBefore() throws {
        var town = try town()
        town.visited(DemoPeople.Visit(user: "guest-abcde", tab: "chat"))
        let asked = calls(town.due(3_000), "messages")
        #expect(
            asked.map(\.arguments) == [
                #"{"conversationId":"guest-abcde_maya","limit":1}"#,
                #"{"conversationId":"guest-abcde_omar","limit":1}"#,
            ])
        let call = PeopleCall(
            person: 0, command: "messages", arguments: [], purpose: .greeting(visitor: "guest-abcde"))
        town.answered(call, try Self.json(#"{"messages":[{"id":"m"}]}"#), refusal: nil)
        #expect(calls(town.due(6_000), "send_message").isEmpty, "who has written is greeted again")
        town.answered(call, nil, refusal: "forbidden")
        #expect(calls(town.due(9_000), "send_message").isEmpty)
        town.answered(call, try Self.json(#"{"messages":[]}"#), refusal: nil)
        let actions = town.due(12_000)
        #expect(calls(actions, "typing").count == 1)
        #expect(calls(actions, "send_message").count == 1)
    }

    @Test func aMessageIsReadAndAnsweredOnceAndPeopleDoNotAnswerEachOther() throws {
        var town = try town()
        _ = town.due(0)
        func told(_ sender: String, _ message: String) throws -> JSON.Value {
            try Self.json(
                #"{"id":"guest-abcde_maya","lastSenderId":"\#(sender)","lastMessageId":"\#(message)","#
                    + #""lastMessage":"Are you there?"}"#)
        }
        // The same item comes again with each mark; two messages in a moment get one answer.
        town.heard(0, "conversation:updated", try told("guest-abcde", "m1"))
        town.heard(0, "conversation:updated", try told("guest-abcde", "m1"))
        town.heard(0, "conversation:updated", try told("guest-abcde", "m2"))
        town.heard(0, "conversation:updated", try told("maya", "m3"))
        town.heard(1, "conversation:updated", try told("maya", "m4"))
        let actions = town.due(10_000)
        #expect(calls(actions, "read").count == 2)
        #expect(calls(actions, "typing").map(\.person) == [0])
        #expect(calls(actions, "send_message").map(\.person) == [0])
        town.heard(0, "conversation:updated", try told("guest-abcde", "m5"))
        #expect(calls(town.due(20_000), "send_message").count == 1)
    }

    @Test func theHostTriesAnotherCodeAndTheOthersJoin() throws {
        var town = try town()
        _ = town.due(0)
        let call = PeopleCall(person: Self.host, command: "", arguments: [], purpose: .session)
        town.answered(call, nil, refusal: "no_session")
        #expect(calls(town.due(1), "create_listening").map(\.arguments) == [#"{"join_code":"CUTCLUB"}"#])
        let made = PeopleCall(person: Self.host, command: "", arguments: [], purpose: .creation(attempt: 0))
        town.answered(made, nil, refusal: "code_taken")
        #expect(calls(town.due(1_000), "create_listening").map(\.arguments) == [#"{"join_code":"CUTCLUB2"}"#])
        let told = try Self.json(
            #"{"session":{"id":"s","join_code":"CUTCLUB2","host":{"id":"yuki"}},"queue":[]}"#)
        town.answered(made, told, refusal: nil)
        let actions = town.due(4_000)
        #expect(actions.contains(.subscribe(person: Self.host, topic: "session:s")))
        #expect(calls(actions, "join_listening").map(\.person) == [0, 1, 2, 3])
        #expect(calls(actions, "add_song").count == 5)
        #expect(town.session?.code == "CUTCLUB2")
        // A session that another user hosts is not the people's.
        town.answered(
            call, try Self.json(#"{"session":{"id":"s","join_code":"X","host":{"id":"guest-b"}}}"#), refusal: nil)
        #expect(town.session == nil)
        #expect(calls(town.due(4_001), "create_listening").count == 1)
    }

    @Test func aVisitorsSongIsLikedAndAVisitorsWishToSkipIsJoined() throws {
        var town = try town(isHosting: true)
        town.heard(
            Self.host, "queue.updated",
            try Self.json(
                #"{"queue":[{"id":"q1","added_by":{"id":"omar"}},{"id":"q9","added_by":{"id":"guest-abcde"}}]}"#))
        let votes = calls(town.due(6_000), "vote_song")
        #expect(
            votes.map(\.arguments) == Array(repeating: #"{"queued_song_id":"q9","vote_value":1}"#, count: 2))
        for count in 1...3 {
            town.heard(Self.host, "session.updated", try Self.json(#"{"skip_request_count":\#(count)}"#))
        }
        #expect(calls(town.due(12_000), "request_skip").map(\.person) == [0, 1, 2, 3, 4])
        #expect(
            calls(town.due(13_500), "song_finished").map(\.arguments).first == #"{"queued_song_id":"q0"}"#,
            "the people are too few, and the song goes on")
        // Once it is skipped, those who were about to ask do not ask for the next one.
        town.heard(Self.host, "now_playing.updated", try Self.json(#"{"current_song":{"id":"q1"}}"#))
        town.heard(Self.host, "session.updated", try Self.json(#"{"skip_request_count":1}"#))
        #expect(calls(town.due(15_000), "request_skip").map(\.person) == [0])
        town.heard(Self.host, "now_playing.updated", try Self.json(#"{"current_song":{"id":"q9"}}"#))
        town.heard(Self.host, "session.updated", try Self.json(#"{"skip_request_count":0}"#))
        #expect(calls(town.due(22_000), "request_skip").isEmpty)
    }

    @Test(arguments: [true, false]) func aSongDoesNotRunOutWhileAWishToSkipItIsJoined(isWished: Bool) throws {
        var town = try town(isHosting: true)
        town.visited(DemoPeople.Visit(user: "guest-abcde", tab: "session"))
        town.heard(Self.host, "queue.updated", try Self.json(#"{"queue":[{"id":"q1","added_by":{"id":"omar"}}]}"#))
        _ = town.due(29_500)
        if isWished { town.heard(Self.host, "session.updated", try Self.json(#"{"skip_request_count":1}"#)) }
        let actions = town.due(34_400)
        #expect(calls(actions, "song_finished").isEmpty == isWished)
        #expect(calls(actions, "request_skip").map(\.person) == (isWished ? [0, 1, 2, 3, 4] : []))
    }

    @Test func peopleGoToAVisitorOnTheMap() throws {
        var town = try town()
        town.visited(DemoPeople.Visit(user: "guest-abcde", tab: "nearby"))
        _ = town.due(1)
        for _ in 0..<60 {
            let told = #"{"id":"guest-abcde","user":{"location":{"latitude":52.5236,"longitude":13.405}}}"#
            town.heard(2, "nearby:move", try Self.json(told))
            _ = town.due(town.nowMs + 2_000)
        }
        // 400 m north of the middle, and 110 m aside of that.
        #expect(abs(town.walkers[2].north - 510) < 80, "\(town.walkers[2])")
        #expect(abs(town.walkers[2].east - 110) < 80, "\(town.walkers[2])")
    }

    @Test(arguments: 1...5) func aWeekOfLooksStaysSmall(seed: Int) throws {
        var town = try town(seed: UInt64(seed), isHosting: true)
        var counts: [String: Int] = [:]
        var orders = 0
        var looked = 0
        var nowMs = 2_000
        while nowMs < Self.weekMs / 7 {
            if nowMs / 60_000 > looked {
                looked = nowMs / 60_000
                for tab in ["chat", "orders", "phone"] {
                    town.visited(DemoPeople.Visit(user: "guest-\(looked % 1_000)", tab: tab))
                }
            }
            for action in town.due(nowMs) {
                switch action {
                case .call(let call): counts[call.command, default: 0] += 1
                case .order: orders += 1
                case .subscribe: break
                }
            }
            nowMs += 1_000
        }
        let minutes = nowMs / 60_000
        #expect(orders <= 4 * minutes && orders >= minutes)
        #expect(counts["set_location"] ?? 0 <= 5 * 16 * minutes)
        #expect(counts["set_location"] ?? 0 >= 5 * 8 * minutes)
        // Visitors are asked about; nobody writes without a reason, but to phones.
        #expect(counts["send_message"] ?? 0 <= minutes)
        #expect(counts["add_song"] ?? 0 <= 10 * minutes)
        #expect(town.agenda.count < 40)
        #expect(town.pushes.count <= PeopleTown<Seeded>.memoryMax)
        for walker in town.walkers {
            #expect(abs(walker.east) <= 700 && abs(walker.north) <= 700)
        }
    }

    @Test func aVisitorSeesAnOrderBeginWithinSecondsAndNoMoreThanOneInEight() throws {
        var town = try town()
        var begun: [Int] = []
        for second in 0..<60 {
            if second.isMultiple(of: 3) { town.visited(DemoPeople.Visit(user: "guest-a", tab: "orders")) }
            for case .order in town.due(second * 1_000) { begun.append(second) }
        }
        #expect(begun.first ?? 60 <= 1)
        #expect(zip(begun, begun.dropFirst()).allSatisfy { (8...9).contains($1 - $0) }, "\(begun)")
    }

    @Test func peopleRestWhileNobodyLooks() throws {
        var town = try town(isHosting: true)
        town.visited(DemoPeople.Visit(user: "guest-abcde", tab: "orders"))
        _ = town.due(PeopleTown<Seeded>.attentionMs * 3)
        var seen: [String: Int] = [:]
        var orders = 0
        for action in town.due(PeopleTown<Seeded>.attentionMs * 3 + 3_600_000) {
            if case .call(let call) = action { seen[call.command, default: 0] += 1 }
            if case .order = action { orders += 1 }
        }
        #expect(orders == 0)
        // Places end without a sign, and the host looks whether the session is there.
        #expect(seen == ["set_location": 300, "current_listening": 60])
        town.visited(DemoPeople.Visit(user: "guest-abcde", tab: "nearby"))
        #expect(calls(town.due(town.nowMs + 2_500), "set_location").count >= 5, "nobody wakes up within two seconds")
    }

    @Test func whoIsNotConnectedDoesNothing() throws {
        var town = try town()
        _ = town.due(0)
        for person in Self.names.indices { town.left(person) }
        town.visited(DemoPeople.Visit(user: "guest-abcde", tab: "chat"))
        #expect(town.due(600_000).isEmpty)
    }

    @Test func answersFitTheWords() {
        #expect(PeopleWords.answer(to: "Hello Maya", 0).hasPrefix("Hello!"))
        #expect(PeopleWords.answer(to: "Is the shop open?", 0).hasPrefix("Good question."))
        #expect(PeopleWords.answer(to: "", 7) == PeopleWords.answer(to: "", 1))
        #expect(PeopleWords.display("maya") == "Maya")
        #expect(PeopleWords.display("") == "")
    }
}
