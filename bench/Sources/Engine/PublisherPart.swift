import Connections
import Core
import Reactors

/// The way of a publisher's messages to the target.
protocol PublishDoor: AnyObject {
    func send(_ job: PublishJob)
    /// Whether publishing may begin.
    var isOpen: Bool { get }
}

/// The process that publishes, over HTTP or by Redis.
///
/// Thread: main.
final class PublisherPart: AgentPart {
    private var figures = RunFigures()
    private var notes: [String] = []
    private var notesTold = 0
    private var door: (any PublishDoor)?
    private var publisher: Publisher?

    private static let notesMax = 10

    init(_ reactor: Reactor, _ settings: AgentSettings) throws(BenchFailure) {
        let context = ConnectionContext(reactor: reactor, limits: ConnectionLimits(Limits(), reactors: 1))
        let publisher = try Publisher(
            reactor, settings.options, stride: settings.count, offset: settings.index,
            note: { [unowned self] in note($0) },
            count: { [unowned self] in $0(&figures) }, send: { [unowned self] in door?.send($0) })
        self.publisher = publisher
        let answered: (PublishJob, String?) -> Void = { [unowned publisher] in publisher.answered($0, refusal: $1) }
        let failed: (String) -> Void = { [unowned self] in note($0) }
        if settings.options.publish == .redis {
            door = try RedisDoor(context, settings.options.redis, answered: answered, failed: failed)
        } else {
            door = try HTTPDoor(context, settings.options, answered: answered, failed: failed)
        }
    }

    private func note(_ text: String) {
        if !notes.contains(text), notes.count < PublisherPart.notesMax { notes.append(text) }
    }

    func obey(_ command: AgentCommand) {
        if case .load(let plan) = command { publisher?.begin(plan) }
    }

    func tick(_ nowUs: Int) {}

    func snapshot() -> AgentSnapshot {
        defer {
            figures.removeAll()
            notesTold = notes.count
        }
        return AgentSnapshot(
            figures: figures, isDone: publisher?.isDone == true && door?.isOpen == true,
            notes: Array(notes[notesTold...]))
    }
}
