import Foundation
import Testing

@testable import SwitchboardClient

/// What a case's program sees.
extension ConformancePlayer {
    func look(_ step: JSONValue) throws {
        if let name = step["sees"]?.string {
            try sees(name, step)
        } else if let name = step["value"]?.string {
            if let server = step["server"] {
                if values[name] == nil { values[name] = Optimistic(server) }
                values[name]?.set(server: server, upTo: step["upTo"].flatMap { TopicPosition($0) })
            }
            let shown = values[name]?.value
            if let wanted = step["is"], shown != wanted {
                throw Failure(description: "shown is \(shown?.text ?? "nothing")")
            }
        } else if let name = step["done"]?.string {
            try outcome(tickets[name].flatMap { answers[$0] }, step)
        } else if let id = step["result"]?.string {
            try outcome(results[id], step)
        } else if let wanted = step["status"] {
            let status = self.status
            if !matches(status, wanted) { throw Failure(description: "the status is \(status.text)") }
        } else if let ids = step["stored"]?.array {
            let stored = storage.map { JSONValue.string($0.id) }
            if Set(stored) != Set(ids) { throw Failure(description: "stored is \(stored)") }
        } else if let state = step["storage"]?.string {
            isStorageFull = state == "full"
        } else {
            throw Failure(description: "unknown step")
        }
    }

    /// The machine tells its steps more finely than the table: asking for a token is part of connecting.
    private var status: JSONValue {
        let status = machine.status
        let phase: String =
            switch status.phase {
            case .asking: "connecting"
            case .idle: "idle"
            default: status.phase.rawValue
            }
        return [
            "phase": .string(phase), "isReady": .bool(status.isReady), "attempt": .integer(Int64(status.attempt)),
            "lastClose": [
                "code": .integer(Int64(status.lastClose?.code ?? 0)),
                "httpStatus": status.lastClose?.httpStatus.map { .integer(Int64($0)) } ?? .null,
            ],
            "reason": status.reason.map {
                ["code": .string($0.code.rawValue), "isPermanent": .bool($0.isPermanent)]
            } ?? .null,
            "userId": status.userID.map { .string($0) } ?? .null, "pendingCalls": .integer(Int64(status.pendingCalls)),
        ]
    }

    private func sees(_ name: String, _ step: JSONValue) throws {
        guard var reader = readers[name] else { throw Failure(description: "nobody is \(name)") }
        reader.updates += reader.inbox.takeAll()
        defer { readers[name] = reader }
        if let code = step["ended"] {
            guard let ended = reader.ended, reader.updates.isEmpty else {
                throw Failure(description: "not ended: \(reader.updates)")
            }
            let told = JSONValue.string(ended.map { ConformancePlayer.code($0) } ?? "stopped")
            if !matches(told, code) { throw Failure(description: "ended by \(String(describing: ended))") }
            return
        }
        if step["nothing"] != nil {
            if let first = reader.updates.first { throw Failure(description: "\(name) sees \(first)") }
            return
        }
        if let bounds = step["offsets"]?.array, let low = bounds.first?.integer, let high = bounds.last?.integer {
            for offset in low...high {
                guard case .event(let event) = reader.updates.first, event.position?.offset == offset else {
                    throw Failure(description: "not \(offset) but \(String(describing: reader.updates.first))")
                }
                reader.updates.removeFirst()
            }
            return
        }
        guard let first = reader.updates.first else { throw Failure(description: "\(name) sees nothing") }
        reader.updates.removeFirst()
        let told = ConformancePlayer.json(first)
        if case .members(let members) = first, step["update"]?["members"] == nil {
            // This client tells the whole set after each change.
            let ids = Set(members.map(\.id))
            func named(_ member: String) -> [String] {
                (step["update"]?[member]?.array ?? []).compactMap { $0["id"]?.string }
            }
            if ids.isSuperset(of: named("joins") + named("updates")), ids.isDisjoint(with: named("leaves")) { return }
        }
        if !matches(told, step["update"] ?? .null) { throw Failure(description: "\(name) sees \(told.text)") }
    }

    static func code(_ error: SwitchboardError) -> String {
        switch error.code {
        case .server(let code): code
        case .tooLarge: "too_large"
        default: "\(error.code)"
        }
    }

    private static func json(_ update: TopicUpdate) -> JSONValue {
        switch update {
        case .live(let state, let recovered, let position):
            var members: [String: JSONValue] = [
                "type": "live", "recovered": .bool(recovered), "position": position?.json ?? .null,
            ]
            members["state"] = state
            return .object(members)
        case .event(let event):
            return [
                "type": "event", "event": .string(event.name), "data": event.data,
                "position": event.position?.json ?? .null,
            ]
        case .gap(let gap):
            return [
                "type": "gap", "reason": .string(gap.reason.rawValue),
                "missed": gap.missed.map { .integer($0) } ?? .null,
                "position": gap.position?.json ?? .null,
            ]
        case .pending(let error):
            return ["type": "pending", "error": error.map { ["code": .string(code($0))] } ?? .null]
        case .members(let members):
            let all = members.map { member -> JSONValue in
                [
                    "id": .string(member.id), "key": .string(member.key), "meta": member.meta,
                    "user": member.user.map { .string($0) } ?? .null,
                ]
            }
            return ["type": "presence", "members": .array(all)]
        }
    }

    private func outcome(_ result: Result<JSONValue, SwitchboardError>?, _ step: JSONValue) throws {
        switch result {
        case nil: if step["waiting"] != nil { return }
        case .success(let answer): if let wanted = step["answer"], matches(answer, wanted) { return }
        case .failure(let error): if step["error"]?.string == ConformancePlayer.code(error) { return }
        }
        throw Failure(description: "the outcome is \(String(describing: result))")
    }
}
