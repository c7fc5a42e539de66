import Core
import Testing

@testable import Presence

/// Who is here on one topic, as one shard knows it.
@Suite struct PresenceRoomTests {
    private static let node = Array("me".utf8)

    private func id(_ number: Int, of node: String = "other") -> PresenceID {
        PresenceID(node: Array(node.utf8), shard: 0, number: number)
    }

    private func member(_ number: Int, of node: String = "other", says: Int = 1) -> PresenceMember {
        PresenceMember(
            id: id(number, of: node), key: [UInt8(ascii: "k")], user: nil, meta: Array("{\"n\":\(says)}".utf8),
            revision: says)
    }

    private func version(_ number: Int, _ epoch: String = "e") throws -> Position {
        try #require(Position(epoch: Array(epoch.utf8), offset: number))
    }

    private func news(
        _ number: Int, here: [PresenceMember] = [], left: [PresenceID] = [], _ epoch: String = "e"
    ) throws -> PresenceUpdate {
        PresenceUpdate(version: try version(number, epoch), left: left, here: here)
    }

    /// A room that knows the set up to version 5, and whose clients were told.
    private func room(_ members: [PresenceMember] = []) throws -> TopicPresence {
        var room = TopicPresence(node: Self.node, shard: 0)
        room.beginReading()
        room.read(try version(5), members)
        room.beginTelling()
        return room
    }

    private func change(_ room: inout TopicPresence) -> PresenceChange { room.takeChange(max: 100) }

    // MARK: Counts

    /// One user took all places of a topic by many connections, and nobody else could be listed.
    @Test func entriesOfAUserAreCountedWhetherTheyAreHereOrOnTheirWay() throws {
        let ann = Array("ann".utf8)
        func entry(_ number: Int, of node: String, _ user: [UInt8]? = Array("ann".utf8)) -> PresenceMember {
            PresenceMember(
                id: id(number, of: node), key: [], user: user, meta: Array("{}".utf8), revision: 1)
        }
        var room = try room([entry(1, of: "other"), entry(2, of: "other", Array("bob".utf8)), member(3)])
        #expect(room.count(of: ann) == 1)
        for number in 1...3 { room.track(entry(number, of: "me")) }
        #expect(room.count(of: ann) == 3)
        let writing = room.takeWriting(max: 100)
        room.wrote(writing, refused: [id(3, of: "me")])
        #expect(room.count(of: ann) == 2)
        room.received(try news(6, here: [entry(1, of: "me"), entry(2, of: "me")]))
        #expect(room.count(of: ann) == 3)
        // Whoever shows another user's token from now on is counted as that user.
        room.track(entry(1, of: "me", Array("bob".utf8)))
        room.untrack(id(2, of: "me"))
        room.received(try news(7, here: [entry(1, of: "me", Array("bob".utf8))], left: [id(2, of: "me")]))
        #expect((room.count(of: ann), room.count(of: Array("bob".utf8))) == (1, 2))
        room.drop([Array("other".utf8)])
        #expect((room.count(of: ann), room.count(of: Array("bob".utf8))) == (0, 1))
        room.untrack(id(1, of: "me"))
        room.received(try news(8, left: [id(1, of: "me")]))
        #expect(room.count(of: Array("bob".utf8)) == 0)
    }

    // MARK: News

    @Test func newsThatFollowAreTold() throws {
        var room = try room([member(1)])
        room.received(try news(6, here: [member(2)], left: [id(1)]))
        #expect(room.standing == .at(try version(6)))
        #expect(room.reported == [member(1)], "clients that come now are told what the others were")
        #expect(change(&room) == PresenceChange(joins: [member(2)], leaves: [member(1)]))
        #expect(room.reported == [member(2)])
        #expect(change(&room).isEmpty)
    }

    @Test func whatSaysSomethingNewLeavesAndJoins() throws {
        var room = try room([member(1)])
        room.received(try news(6, here: [member(1, says: 2)]))
        let told = change(&room)
        #expect(told == PresenceChange(joins: [member(1, says: 2)], leaves: [member(1)]))
        #expect(told.replaced == [id(1): member(1)])
    }

    /// A client that comes and goes within an interval would flicker for everybody.
    @Test func whoComesAndGoesAtOnceIsNotTold() throws {
        var room = try room([member(1)])
        room.received(try news(6, here: [member(2)]))
        room.received(try news(7, left: [id(2), id(1)]))
        room.received(try news(8, here: [member(1)]))
        #expect(!room.hasUntold)
        #expect(change(&room).isEmpty && room.reported == [member(1)])
    }

    @Test func whatComesTwiceIsTakenOnce() throws {
        var room = try room()
        room.received(try news(5, here: [member(9)]))
        #expect(!room.hasUntold)
        #expect(room.standing == .at(try version(5)))
    }

    @Test func aHoleIsRead() throws {
        for one in [try news(7), try news(6, "other"), try news(1, "other")] {
            var room = try room([member(1)])
            room.received(one)
            #expect(room.standing == .unknown)
            #expect(room.reported == [member(1)], "nobody is gone before that is known")
        }
    }

    @Test func aSetThatBeginsIsFollowed() throws {
        var room = TopicPresence(node: Self.node, shard: 0)
        room.beginReading()
        room.read(nil, [])
        room.received(try news(1, here: [member(1)]))
        #expect(room.reported.isEmpty && change(&room).joins == [member(1)])
        var late = TopicPresence(node: Self.node, shard: 0)
        late.beginReading()
        late.read(nil, [])
        late.received(try news(2, here: [member(2)]))
        #expect(late.standing == .unknown, "its first change was missed")
    }

    // MARK: Reading

    @Test func newsOfAReadAreKeptAndFollowIt() throws {
        var room = try room([member(1)])
        room.lost()
        room.received(try news(6, here: [member(7)]))  // nobody knows what it follows
        room.beginReading()
        room.received(try news(7, here: [member(2)]))
        room.received(try news(8, here: [member(3)]))
        #expect(!room.hasUntold)
        room.read(try version(7), [member(2)])
        #expect(room.standing == .at(try version(8)))
        #expect(change(&room) == PresenceChange(joins: [member(2), member(3)], leaves: [member(1)]))
    }

    /// Clients were told leave and join for everybody whenever a channel was lost.
    @Test func aReadTellsOnlyWhatDiffers() throws {
        var room = try room([member(1), member(2)])
        room.lost()
        room.beginReading()
        room.read(try version(900, "next"), [member(2), member(1)])
        #expect(!room.hasUntold)
    }

    @Test func tooMuchNewsDuringAReadIsReadAgain() throws {
        var room = try room()
        room.beginReading()
        for number in 6...262 { room.received(try news(number)) }
        #expect(room.standing == .unknown)
        room.read(try version(300), [member(1)])
        #expect(room.standing == .unknown, "what a read brings that was given up says nothing")
    }

    // MARK: Own clients

    @Test func ownClientsAreWrittenThenTold() throws {
        var room = try room()
        let mine = member(1, of: "me")
        room.track(mine)
        #expect(room.wantsToSend && !room.hasUntold, "Redis hears of it first")
        let writing = room.takeWriting(max: 10)
        #expect(writing == TopicPresence.Writing(here: [mine]))
        #expect(!room.wantsToSend)
        room.wrote(writing, refused: [])
        room.received(try news(6, here: [mine]))
        #expect(change(&room).joins == [mine])
        room.untrack(mine.id)
        let leaving = room.takeWriting(max: 10)
        #expect(leaving == TopicPresence.Writing(left: [mine.id]))
        #expect(!room.isIdle)
        room.wrote(leaving, refused: [])
        #expect(room.isIdle)
    }

    @Test func oneCallAtATimeAndWhoLeavesGoesFirst() throws {
        var room = try room()
        for number in 1...3 { room.track(member(number, of: "me")) }
        room.untrack(id(3, of: "me"))
        let first = room.takeWriting(max: 2)
        #expect(first.left == [id(3, of: "me")] && first.here == [member(1, of: "me")])
        #expect(!room.wantsToSend)
        room.wrote(first, refused: [])
        #expect(room.wantsToSend && room.takeWriting(max: 2).here == [member(2, of: "me")])
    }

    @Test func whatMayNotBeWrittenIsWrittenAgain() throws {
        var room = try room()
        room.track(member(1, of: "me"))
        let writing = room.takeWriting(max: 10)
        room.untrack(id(1, of: "me"))
        room.couldNotWrite(writing)
        #expect(room.takeWriting(max: 10) == TopicPresence.Writing(left: [id(1, of: "me")]))
    }

    @Test func whoFindsNoRoomIsForgotten() throws {
        var room = try room()
        room.track(member(1, of: "me"))
        room.wrote(room.takeWriting(max: 10), refused: [id(1, of: "me")])
        #expect(room.own.isEmpty && room.isIdle)
    }

    /// Redis came back with older data, or another node took this one for gone: own clients were missing for good.
    @Test func ownClientsThatRedisLostAreWrittenAgain() throws {
        let mine = member(1, of: "me")
        var room = try room([mine])
        room.track(mine)
        room.wrote(room.takeWriting(max: 10), refused: [])
        room.received(try news(6, left: [mine.id]))
        #expect(room.takeWriting(max: 10).here == [mine])
        room.couldNotWrite(TopicPresence.Writing())
        room.beginReading()
        room.read(try version(1, "new"), [])
        #expect(room.takeWriting(max: 10).here == [mine])
    }

    /// An entry of this shard that no session has would never end.
    @Test func ownEntriesOfNobodyAreRemoved() throws {
        var room = try room([member(8, of: "me"), member(1)])
        #expect(room.takeWriting(max: 10) == TopicPresence.Writing(left: [id(8, of: "me")]))
    }

    // MARK: Nodes

    @Test func aNodeThatIsGoneTakesItsPeopleOnly() throws {
        var room = try room([member(1), member(2, of: "third"), member(3)])
        #expect(Set(room.nodes) == [Array("other".utf8), Array("third".utf8)])
        room.drop([Array("other".utf8)])
        #expect(Array(room.nodes) == [Array("third".utf8)])
        #expect(change(&room).leaves == [member(1), member(3)])
        #expect(room.takeWriting(max: 10).left == [id(1), id(3)], "Redis is told so")
    }

    @Test func aVersionThatDoesNotComeIsNoticed() throws {
        let room = try room()
        for (one, isBehind) in [(try version(5), false), (try version(4), false), (try version(6), true)] {
            #expect(room.isBehind(one) == isBehind)
        }
        let other = try version(2, "other")
        #expect(room.isBehind(other) && room.isBehind(nil))
    }
}
