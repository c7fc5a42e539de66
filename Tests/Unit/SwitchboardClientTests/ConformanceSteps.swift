import Foundation
import Testing

@testable import SwitchboardClient

/// The verbs of `clients/conformance/README.md`.
extension ConformancePlayer {
    func play(_ steps: [JSONValue]) throws {
        for step in steps {
            do {
                try play(step)
            } catch let failure as Failure {
                throw Failure(description: "\(failure.description)\n  at \(step.text)")
            }
        }
    }

    private func play(_ step: JSONValue) throws {
        if let name = step["play"]?.string {
            try play(preludes[name]?.array ?? [])
        } else if let verb = step["app"]?.string {
            try app(verb, step)
        } else if let token = step["source"] {
            guard let fetch = fetches.last else { throw Failure(description: "no token was asked for") }
            act(.token(fetch: fetch, token.string))
        } else if let what = step["expect"]?.string {
            try expect(what, step)
        } else if let verb = step["gateway"]?.string {
            try gateway(verb, step)
        } else if let duration = step["clock"]?.integer {
            pass(duration)
        } else if let duration = step["quiet"]?.integer {
            pass(duration)
            if let first = done.first { throw Failure(description: "not quiet: \(first)") }
        } else if let duration = step["sleep"]?.integer {
            nowMs += duration
            act(.tick)
        } else if let shift = step["wall"]?.integer {
            wallShiftMs += shift
        } else {
            try look(step)
        }
    }

    private func app(_ verb: String, _ step: JSONValue) throws {
        let topic = step["topic"]?.string ?? ""
        let name = step["as"]?.string ?? ""
        switch verb {
        case "start": act(.start)
        case "stop": act(.stop)
        case "online": act(.network(usable: true, changed: true))
        case "offline": act(.network(usable: false, changed: true))
        case "hide": act(.suspend)
        case "visible": act(.foreground)
        case "restart": restart()
        case "token":
            credentials = ConformancePlayer.credentials(step["token"])
            act(.setCredentials(credentials))
        case "join":
            let key = step["latestBy"]?.string.map(ConformancePlayer.key)
            let inbox = TopicUpdates.inbox(most: machine.times.updatesMax, latestBy: key)
            readers[name] = Reader(listener: number(), topic: topic, inbox: inbox)
            act(
                .join(
                    topic: topic, listener: numbers, presence: step["presence"]?.bool == true,
                    since: step["since"].flatMap { TopicPosition($0) }))
        case "leave": if let reader = readers[name] { act(.leave(topic: reader.topic, listener: reader.listener)) }
        case "resynchronise": act(.resynchronise(topic: topic))
        case "track": act(.track(topic: topic, meta: step["meta"].flatMap { $0 == .null ? nil : $0.text }))
        case "cancel": if let ticket = tickets[name] { act(.cancel(ticket: ticket)) }
        case "call", "publish": call(verb, step)
        default: throw Failure(description: "unknown verb")
        }
    }

    private static func key(_ member: String) -> @Sendable (TopicEvent) -> String? {
        { event in event.data[member]?.text }
    }

    private func restart() {
        machine = ClientMachine(
            times: ClientTimes(), seed: 8, credentials: ConformancePlayer.credentials(given["token"]))
        readers = [:]
        done = []
        act(.loaded(storage))
    }

    private func call(_ verb: String, _ step: JSONValue) {
        let ticket = number()
        tickets[step["as"]?.string ?? ""] = ticket
        if let name = step["value"]?.string, case .object(let members) = step["guess"] {
            let change: @Sendable (inout JSONValue) -> Void = { value in
                guard case .object(let known) = value else { return }
                value = .object(known.merging(members) { _, guessed in guessed })
            }
            if let number = values[name]?.guess(change) { guesses[ticket] = (name, number) }
        }
        let id = step["id"]?.string ?? "id-\(ticket)"
        let event = step["event"]?.string ?? ""
        let data = step["data"]?.text ?? "{}"
        let wall = ConformancePlayer.beginMs + nowMs + wallShiftMs
        let isPublish = verb == "publish"
        let entry = OutboxEntry(
            id: id, event: isPublish ? "publish" : event, topic: isPublish ? step["topic"]?.string : nil,
            body: isPublish ? ConformancePlayer.publishBody(event, data, id) : data, user: nil,
            lane: step["lane"]?.string ?? "default", isRepeatable: step["repeatable"]?.bool ?? false, createdAtMs: wall,
            expiresAtMs: wall + (step["keepMs"]?.integer ?? 0), firstSentAtMs: nil)
        act(
            .call(
                entry,
                CallTerms(
                    ticket: ticket, timeoutMs: step["timeoutMs"]?.integer ?? 60_000,
                    failsOffline: step["failOffline"]?.bool ?? false, isKept: step["keepMs"] != nil)))
    }

    private func gateway(_ verb: String, _ step: JSONValue) throws {
        let index = step["socket"]?.integer.map { Int($0) - 1 } ?? generations.count - 1
        guard generations.indices.contains(index) else { throw Failure(description: "there is no such socket") }
        let generation = generations[index]
        switch verb {
        case "opened": act(.opened(generation: generation))
        case "closed":
            let code = step["code"]?.integer ?? 1_006
            act(
                .closed(
                    generation: generation, code: code == 1_006 ? 0 : Int(code),
                    httpStatus: step["httpStatus"]?.integer.map { Int($0) }))
        default:
            let frame = step["frame"] ?? .null
            if let text = frame.string { return act(.text(generation: generation, text)) }
            let first = step["from"]?.integer ?? 0
            for count in first..<first + (step["repeat"]?.integer ?? 1) {
                act(.text(generation: generation, filled(frame, count).text))
            }
        }
    }

    private func first(_ step: JSONValue) throws -> ClientOutput {
        if done.isEmpty, let within = step["withinMs"]?.integer { pass(within, untilDone: true) }
        guard let first = done.first else { throw Failure(description: "the client did nothing") }
        return first
    }

    private func expect(_ what: String, _ step: JSONValue) throws {
        if what == "subscribe" { return try expectSubscribe(step) }
        let output = try first(step)
        done.removeFirst()
        switch (what, output) {
        case ("open", .open): return
        case ("close", .close(_, let code)):
            guard let wanted = step["code"]?.integer else { return }
            if Int(wanted) == code { return }
        case ("token", .askToken(_, let reason)):
            guard let wanted = step["reason"]?.string else { return }
            if wanted == reason.rawValue { return }
        case ("send", .send(_, let text)):
            if let frame = JSONReader.read(text), matches(frame, step["frame"] ?? .null) { return }
        default: break
        }
        throw Failure(description: "the client did \(output)")
    }

    private func expectSubscribe(_ step: JSONValue) throws {
        guard case .object(var wanted) = step["topics"] else { throw Failure(description: "no topics") }
        while !wanted.isEmpty {
            let output = try first(step)
            done.removeFirst()
            guard case .send(_, let text) = output, let frame = JSONReader.read(text), let data = frame["data"],
                frame["event"] == "subscribe"
            else { throw Failure(description: "the client did \(output)") }
            for topic in data["topics"]?.array ?? [data] {
                let name = topic["topic"]?.string ?? topic.string ?? ""
                guard let since = wanted.removeValue(forKey: name), matches(topic["since"], since) else {
                    throw Failure(description: "the client asked for \(topic.text)")
                }
                names["$" + name] = frame["ref"]
            }
        }
    }
}
