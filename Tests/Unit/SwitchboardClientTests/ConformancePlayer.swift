import Foundation
import Testing

@testable import SwitchboardClient

/// Plays one case of `clients/conformance` with the machine, in virtual time.
final class ConformancePlayer {
    struct Reader {
        let listener: Int
        let topic: String
        let inbox: Inbox<TopicUpdate>
        var updates: [TopicUpdate] = []
        var ended: SwitchboardError??
    }

    struct Failure: Error, CustomStringConvertible { let description: String }

    /// The date of the beginning.
    ///
    /// Entries of the storage count from it.
    static let beginMs: Int64 = 1_800_000_000_000

    var machine: ClientMachine
    var credentials: Credentials
    var nowMs: Int64 = 0
    var wallShiftMs: Int64 = 0
    /// What the client did and no step has taken yet.
    var done: [ClientOutput] = []
    var generations: [Int] = []
    var fetches: [Int] = []
    var readers: [String: Reader] = [:]
    var numbers = 0
    var tickets: [String: Int] = [:]
    var answers: [Int: Result<JSONValue, SwitchboardError>] = [:]
    var results: [String: Result<JSONValue, SwitchboardError>] = [:]
    var storage: [OutboxEntry] = []
    var values: [String: Optimistic<JSONValue>] = [:]
    /// The guess of a call, by its ticket.
    var guesses: [Int: (value: String, number: Int)] = [:]
    var isStorageFull = false
    var names: [String: JSONValue] = [:]
    let preludes: JSONValue
    let given: JSONValue

    init(given: JSONValue, preludes: JSONValue) {
        self.given = given
        self.preludes = preludes
        credentials = ConformancePlayer.credentials(given["token"])
        machine = ClientMachine(times: ClientTimes(), seed: 7, credentials: credentials)
        for entry in given["storage"]?.array ?? [] { storage.append(ConformancePlayer.entry(entry)) }
        act(.loaded(storage))
    }

    static func credentials(_ token: JSONValue?) -> Credentials {
        switch token?.string {
        case nil: .none
        case "source": .refreshing
        case .some(let text): .fixed(text)
        }
    }

    private static func entry(_ value: JSONValue) -> OutboxEntry {
        let topic = value["topic"]?.string
        let data = value["data"]?.text ?? "{}"
        let id = value["id"]?.string ?? ""
        let event = value["event"]?.string ?? ""
        return OutboxEntry(
            id: id, event: topic == nil ? event : "publish", topic: topic,
            body: topic == nil ? data : publishBody(event, data, id), user: value["user"]?.string,
            lane: value["lane"]?.string ?? "default", isRepeatable: value["repeatable"]?.bool ?? false,
            createdAtMs: beginMs + (value["createdAt"]?.integer ?? 0),
            expiresAtMs: beginMs + (value["expiresAt"]?.integer ?? 3_600_000),
            firstSentAtMs: value["firstSentAt"]?.integer.map { beginMs + $0 })
    }

    static func publishBody(_ event: String, _ data: String, _ id: String) -> String {
        #"{"event":\#(JSONValue.quoted(event)),"data":\#(data),"id":\#(JSONValue.quoted(id))}"#
    }

    // MARK: The client's driver

    func act(_ input: ClientInput) {
        let outputs = machine.take(input, nowMs: nowMs, wallMs: ConformancePlayer.beginMs + nowMs + wallShiftMs)
        for output in outputs { perform(output) }
    }

    private func perform(_ output: ClientOutput) {
        switch output {
        case .open(let generation, _):
            generations.append(generation)
            done.append(output)
        case .send, .close: done.append(output)
        case .askToken(let fetch, _):
            fetches.append(fetch)
            done.append(output)
        case .tell(let listener, let update):
            for (name, reader) in readers where reader.listener == listener {
                readers[name]?.inbox.push(update)
            }
        case .end(let listener, let error):
            for (name, reader) in readers where reader.listener == listener {
                readers[name]?.ended = .some(error)
            }
        case .finish(let ticket, let result):
            if answers[ticket] != nil { done.append(output) }
            answers[ticket] = result
            if let guess = guesses[ticket] {
                let answer = try? result.get()
                values[guess.value]?.settle(
                    guess.number, isDone: answer != nil, at: answer.flatMap { TopicPosition($0) })
            }
        case .result(let result): results[result.entry.id] = result.result
        case .store(let entry):
            if isStorageFull { return act(.unstored(id: entry.id, "full")) }
            if let index = storage.firstIndex(where: { $0.id == entry.id }) {
                storage[index] = entry
            } else {
                storage.append(entry)
            }
        case .forget(let id): storage.removeAll { $0.id == id }
        case .status: break
        }
    }

    /// Lets time pass, and the client do what it does then; stops early when it did something.
    func pass(_ durationMs: Int64, untilDone: Bool = false) {
        let end = nowMs + durationMs
        while !untilDone || done.isEmpty {
            guard let wake = machine.wakeAtMs, wake <= end else {
                nowMs = end
                return act(.tick)
            }
            nowMs = max(nowMs, wake)
            act(.tick)
        }
    }

    func number() -> Int {
        numbers += 1
        return numbers
    }

    // MARK: Text that stands for what the client chose

    func filled(_ value: JSONValue, _ count: Int64? = nil) -> JSONValue {
        switch value {
        case .string("$n"): count.map { .integer($0) } ?? value
        case .string(let text) where text.hasPrefix("$"): names[text] ?? value
        case .array(let elements): .array(elements.map { filled($0, count) })
        case .object(let members): .object(members.mapValues { filled($0, count) })
        default: value
        }
    }

    /// Whether a value has what is expected, and perhaps more; names that are new are taken.
    func matches(_ value: JSONValue?, _ expected: JSONValue) -> Bool {
        switch expected {
        case .null: return value == nil || value == .null
        case .string(let text) where text.hasPrefix("$"):
            guard let value else { return false }
            if let known = names[text] { return known == value }
            names[text] = value
            return true
        case .object(let members):
            return members.allSatisfy { matches(value?[$0.key], $0.value) }
        default: return value == expected
        }
    }
}
