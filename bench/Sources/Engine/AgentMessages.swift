import FoundationEssentials

/// What an agent, a process of a run, is to be; the first line of its input.
struct AgentSettings: Codable {
    /// What it does.
    enum Role: Codable {
        case publisher
        /// Clients `first` ..< `first + count` of all, with a behaviour.
        case clients(BehaviourKind, first: Int, count: Int)
    }

    var role: Role
    var options: BenchOptions
    /// The agent's number among those of its kind, and how many these are.
    var index: Int
    var count: Int
}

/// What an agent is told; a line of its input each.
///
/// It ends with its input.
enum AgentCommand: Codable {
    /// Clients: connect all that are not connected.
    case open
    /// Clients: leave, in good order; also those that are connecting.
    case close
    /// Everybody: a load begins.
    case load(LoadPlan)
    /// Clients: something only their behaviour understands.
    case tell(String)
}

/// What an agent tells, several times a second; a line of its output each.
struct AgentSnapshot: Codable {
    /// What was counted since the last one.
    var figures = RunFigures()
    /// The load that the figures belong to: its ``LoadPlan/startUs``, 0 before the first.
    var loadUs = 0
    /// The second of the load that the figures belong to (``LoadPlan/second(_:)``).
    var second = -1
    /// Commands it has obeyed so far.
    var commands = 0
    /// Nothing that it was told to do is still under way.
    var isDone = true
    /// Clients that are live now.
    var live = 0
    /// Clients whose last connection is over, whoever ended it, or could not be made.
    var away = 0
    /// When the first connection of the last ``AgentCommand/open`` was begun, and when the last client became live.
    var openedUs = 0
    var liveUs = 0
    /// What a reader of the results must know; each said once.
    var notes: [String] = []
    /// A behaviour's own words to its scenario.
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
