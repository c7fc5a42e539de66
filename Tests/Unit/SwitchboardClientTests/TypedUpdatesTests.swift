import Foundation
import Testing

@testable import SwitchboardClient

/// Events and states as types of an app.
struct TypedUpdatesTests {
    typealias Update = TypedUpdate<RoomEvent, Playlist>

    /// The first updates of `dj:1`.
    private func first(_ count: Int, _ client: SwitchboardClient, then publish: () -> Void) async throws -> [Update] {
        var iterator = client.events(of: "dj:1", as: RoomEvent.self, state: Playlist.self).makeAsyncIterator()
        var updates: [Update] = []
        publish()
        while updates.count < count, let update = try await iterator.next() { updates.append(update) }
        return updates
    }

    @Test("events arrive as cases, unknown ones as they are, and the sequence goes on")
    func cases() async throws {
        let gateway = ScriptedGateway(state: #"{"queue":["a"]}"#)
        let updates = try await first(4, gateway.client()) {
            gateway.publish("track:added", #"{"name":"b"}"#)
            gateway.publish("later:version", "{}")
            gateway.publish("cleared", "{}")
        }
        let place = { TopicPosition(epoch: "k", offset: $0) }
        #expect(
            updates == [
                .live(state: Playlist(queue: ["a"]), recovered: false, position: place(0)),
                .event(.added(RoomEvent.Track(name: "b")), at: place(1)),
                .unknown(TopicEvent(topic: "dj:1", name: "later:version", data: [:], position: place(2))),
                .event(.cleared, at: place(3)),
            ])
    }

    @Test("data of another form is an update, is reported once for each name, and ends nothing")
    func undecodable() async throws {
        let faults = Locked<[String]>([])
        let gateway = ScriptedGateway(state: #"{"queue":"none"}"#)
        let client = gateway.client { $0.fault = { line in faults.with { $0.append(line) } } }
        let updates = try await first(5, client) {
            gateway.publish("track:added", #"{"title":"b"}"#)
            gateway.publish("track:added", #"{"title":"c"}"#)
            gateway.publish("track:added", #"{"name":"d"}"#)
        }
        guard case .undecodable(let ofState, nil) = updates[0], case .undecodable(let ofEvent, let event?) = updates[2],
            case .undecodable = updates[3]
        else {
            Issue.record("\(updates)")
            return
        }
        #expect(ofState.code == .undecodable && ofEvent.code == .undecodable && ofEvent.message.contains("name"))
        #expect(event.data == ["title": "b"] && event.position?.offset == 1)
        #expect(updates[1] == .live(state: nil, recovered: false, position: TopicPosition(epoch: "k", offset: 0)))
        #expect(updates[4] == .event(.added(.init(name: "d")), at: TopicPosition(epoch: "k", offset: 3)))
        let told = faults.with { $0 }
        #expect(told.count == 2, "\(told)")
        #expect(told.last?.hasPrefix("dj:1: the event track:added does not fit its type. undecodable: ") == true)
    }

    @Test("a topic that is refused throws through the typed sequence, too")
    func refused() async throws {
        let gateway = ScriptedGateway()
        gateway.state.with { $0.refusal = "forbidden" }
        await #expect(throws: SwitchboardError.self) { try await first(1, gateway.client()) {} }
    }

    @Test("`latest` keeps the newest event of a key for a slow reader")
    func latest() async throws {
        let gateway = ScriptedGateway()
        let client = gateway.client()
        let updates = client.events(of: "dj:1", as: RoomEvent.self).latest { $0.name }
        var iterator = updates.makeAsyncIterator()
        for name in ["b", "c", "d"] { gateway.publish("track:added", #"{"name":"\#(name)"}"#) }
        _ = try await iterator.next()
        guard case .event(.added(let track), _) = try await iterator.next() else {
            Issue.record("no event")
            return
        }
        #expect(track.name == "d")
    }
}
