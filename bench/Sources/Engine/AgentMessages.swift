import FoundationEssentials

/// The settings of an agent, a process of a run; the first line of its input.
struct AgentSettings: Codable {
    /// The agent's task.
    enum Role: Codable {
        case publisher
        /// Clients `first` ..< `first + count` of all, with a behaviour.
        case clients(BehaviourKind, first: Int, count: Int)
    }

    var role: Role
    var options: BenchOptions
    /// The agent's number among those of its role, and their number.
    var index: Int
    var count: Int
}

/// The commands of an agent; one line of its input each.
///
/// The agent ends with its input.
enum AgentCommand: Codable {
    /// Clients: connect all that are not connected.
    case open
    /// Clients: disconnect with a close handshake; also those that are connecting.
    case close
    /// All agents: a load begins.
    case load(LoadPlan)
    /// Clients: a text for their behaviour.
    case tell(String)
}

/// The report of an agent, several times a second; a line of its output each.
struct AgentSnapshot: Codable {
    /// The counts since the last snapshot.
    var figures = RunFigures()
    /// The load that the figures belong to: its ``LoadPlan/startUs``, 0 before the first.
    var loadUs = 0
    /// The second of the load that the figures belong to (``LoadPlan/second(_:)``).
    var second = -1
    /// Number of commands executed so far.
    var commands = 0
    /// Whether nothing of the commands is still under way.
    var isDone = true
    /// Clients that are live now.
    var live = 0
    /// Number of clients whose last connection has ended or failed.
    var away = 0
    /// Times at which the first connection of the last ``AgentCommand/open`` began, and the last client became live.
    var openedUs = 0
    var liveUs = 0
    /// Remarks for a reader of the results; each sent once.
    var notes: [String] = []
    /// Texts of a behaviour for its scenario.
    var said: [String] = []
}

/// JSON values as lines.
enum JSONLine {
    static func encode(_ value: some Encodable) throws(BenchFailure) -> [UInt8] {
        do {
            return Array(try JSONEncoder().encode(value)) + [0x0a]
        } catch {
            throw BenchFailure("cannot encode: \(error)")
        }
    }

    static func decode<Value: Decodable>(_ type: Value.Type, _ line: [UInt8]) throws(BenchFailure) -> Value {
        do {
            return try JSONDecoder().decode(type, from: Data(line))
        } catch {
            throw BenchFailure("cannot decode \(type): \(error)")
        }
    }
}
