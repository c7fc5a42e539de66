import Foundation
import Testing

@testable import SwitchboardClient

/// A gateway within the process: it answers each subscribe of `dj:1`, and sends the events that a test asks for.
final class ScriptedGateway: SwitchboardTransport {
    struct State: Sendable {
        var events: (@Sendable (SocketEvent) -> Void)?
        var subscribes: [JSONValue] = []
        var opened = 0
        /// The state in the next answers; `nil` for a topic without states.
        var state: String?
        var offset: Int64 = 0
        /// Events since offset 0, for clients that resume.
        var log: [String] = []
        /// Whether calls have no answer.
        var isMute = false
        /// The error in the next answers to a subscribe.
        var refusal: String?
    }

    let state = Locked(State())

    init(state text: String? = nil) { state.with { $0.state = text } }

    func open(_: SocketRequest, events: @escaping @Sendable (SocketEvent) -> Void) -> any SwitchboardSocket {
        state.with { state in
            state.events = events
            state.opened += 1
        }
        events(.opened)
        return Socket(gateway: self, number: state.with { $0.opened })
    }

    /// One connection; an earlier one says nothing and ends nothing.
    private struct Socket: SwitchboardSocket {
        let gateway: ScriptedGateway
        let number: Int
        private var isPresent: Bool { gateway.state.with { $0.opened == number } }

        func send(_ text: String) { if isPresent { gateway.heard(text) } }
        func close(code: Int) { if isPresent { gateway.end(code) } }
    }

    private func heard(_ text: String) {
        guard let frame = JSONReader.read(text), let ref = frame["ref"]?.text else { return }
        let answers: [String] = state.with { state in
            switch frame["event"]?.string {
            case "subscribe": ScriptedGateway.subscribed(&state, frame, ref)
            case "unsubscribe": [#"{"event":"unsubscribed","topic":"dj:1","data":{"topic":"dj:1"},"ref":\#(ref)}"#]
            default: state.isMute ? [] : [#"{"event":"ack","data":{"n":2},"ref":\#(ref)}"#]
            }
        }
        for answer in answers { say(answer) }
    }

    private static func subscribed(_ state: inout State, _ frame: JSONValue, _ ref: String) -> [String] {
        let data = frame["data"] ?? .null
        state.subscribes.append(data)
        if let code = state.refusal {
            return [#"{"event":"error","topic":"dj:1","data":{"code":"\#(code)","message":"No."},"ref":\#(ref)}"#]
        }
        let since = data["since"]?["offset"]?.integer
        let members = state.state.map { since == nil ? #","state":\#($0)"# : "" } ?? ""
        let answer = """
            {"event":"subscribed","topic":"dj:1","data":{"topic":"dj:1","epoch":"k","offset":\(state.offset),\
            "recovered":\(since != nil)\(members)},"ref":\(ref)}
            """
        return [answer] + state.log.dropFirst(Int(since ?? state.offset))
    }

    private func end(_ code: Int) {
        let events = state.with { state in
            defer { state.events = nil }
            return state.events
        }
        events?(.closed(code: code, httpStatus: nil, message: ""))
    }

    func say(_ text: String) { state.with { $0.events }?(.text(text)) }

    /// Publishes an event; a client that is away gets it when it resumes.
    func publish(_ name: String, _ data: String) {
        let text = state.with { state in
            state.offset += 1
            let text = #"{"event":"\#(name)","topic":"dj:1","data":\#(data),"offset":\#(state.offset)}"#
            state.log.append(text)
            return text
        }
        say(text)
    }

    /// Ends the connection from the gateway's side.
    func cut() { end(1_006) }

    /// A client of this gateway that dials again at once.
    func client(_ change: (inout SwitchboardClient.Options) -> Void = { _ in }) -> SwitchboardClient {
        var options = SwitchboardClient.Options()
        options.times.backoffMinMs = 1
        options.times.backoffMaxMs = 2
        options.times.redialMs = 1
        options.times.lingerMs = 1
        options.warn = { _ in }
        change(&options)
        return SwitchboardClient(url: URL(filePath: "/"), options: options, transport: self)
    }
}

/// The queue of a room that plays songs, for tests.
struct Playlist: Codable, Sendable, Equatable {
    var queue: [String]
}

/// An event of a room, for tests.
enum RoomEvent: SwitchboardEvent, Equatable {
    struct Track: Codable, Sendable, Equatable { var name: String }

    case added(Track)
    case cleared

    init?(_ event: TopicEvent) throws {
        switch event.name {
        case "track:added": self = .added(try event.decode())
        case "cleared": self = .cleared
        default: return nil
        }
    }
}
