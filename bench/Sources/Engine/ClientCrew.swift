import Compression
import Connections
import Core
import Reactors

/// The clients of one process: opens them, counts their messages, and reports to the coordinator.
///
/// Thread: main.
final class ClientCrew: AgentPart {
    let options: BenchOptions
    let context: ConnectionContext
    let tls: TLSContext
    /// For servers that deflate.
    private(set) lazy var inflater = Inflater()
    /// The counts since the last snapshot; behaviours add to it.
    var figures = RunFigures()
    private(set) var plan: LoadPlan?
    private(set) var clients: [LoadClient] = []
    /// Remarks for the report, and texts for the scenario.
    private(set) var notes: [String] = []
    var said: [String] = []
    private(set) var live = 0
    private(set) var away = 0
    private var opening = 0
    /// The first client that was not begun since the last `open`.
    private var firstUnopened = Int.max
    private var openedUs = 0
    private var liveUs = 0
    private var isClosing = false
    private var notesTold = 0
    /// By dialect, since each has the marker in another place.
    private var markers = [MarkerReader](repeating: MarkerReader(), count: ClientDialect.allCases.count)
    /// The process's number among those with clients, their number, and the number of its first client.
    let processIndex: Int
    let processCount: Int
    let firstNumber: Int
    private var behaviour: (any ClientBehaviour)?
    private let urls: [CrowdOptions.URL]
    /// Publishes for the clients; `nil` when they do not publish.
    private var door: ClientDoor?

    private static let notesMax = 10

    init(
        _ reactor: Reactor, _ settings: AgentSettings, _ kind: BehaviourKind, first: Int, count: Int
    ) throws(BenchFailure) {
        options = settings.options
        (processIndex, processCount, firstNumber) = (settings.index, settings.count, first)
        urls = options.urls.compactMap { CrowdOptions.URL($0) }
        do {
            tls = try TLSContext(clientTrusting: nil)
        } catch {
            throw BenchFailure("cannot start: \(error)")
        }
        context = ConnectionContext(reactor: reactor, limits: ConnectionLimits(Limits(), reactors: 1))
        let behaviour = try kind.make(self)
        self.behaviour = behaviour
        if options.publish == .clients { door = try ClientDoor(reactor, self, settings) }
        clients = (first..<first + count).map { LoadClient(self, behaviour, number: $0) }
        away = count
    }

    // MARK: For behaviours

    /// Adds a remark to the report, once.
    func note(_ text: String) {
        if !notes.contains(text), notes.count < ClientCrew.notesMax { notes.append(text) }
    }

    /// Counts bytes from the server, without TLS's own.
    func cameBytes(_ count: Int, nowUs: Int) {
        if let plan, plan.isMeasured(nowUs) { figures.bytes &+= count }
    }

    /// Counts a published message: order, and latency when it is in the measured window and `isTimed`.
    func count(_ client: LoadClient, _ text: Span<UInt8>, nowUs: Int, isTimed: Bool = true) {
        guard let found = markers[client.dialect.number].read(text) else {
            if door?.took(client, text) != true { figures.unmarked += 1 }
            return
        }
        let verdict = client.ledger.take(found.sequence)
        guard let plan else { return }
        if plan.isMeasured(nowUs) { figures.came &+= 1 }
        guard plan.isMeasured(found.dueUs) else { return }
        switch verdict {
        case .inOrder: figures.delivered &+= 1
        case .late:
            figures.delivered += 1
            figures.reordered += 1
        case .duplicate:
            figures.duplicates += 1
            return
        }
        if isTimed { figures.latency.add(nowUs &- found.dueUs) }
    }

    // MARK: For clients

    func url(_ number: Int) -> CrowdOptions.URL? {
        urls.isEmpty ? nil : urls[number % urls.count]
    }

    /// The address from which the client of that number connects.
    func source(_ number: Int) -> IPAddress? {
        guard options.sources > 1 else { return nil }
        return IPAddress(127, 0, 1, UInt8(truncatingIfNeeded: 1 + number % options.sources))
    }

    func clientBegins() {
        if openedUs == 0 { openedUs = Clock.monotonicUs() }
        away -= 1
        opening += 1
    }

    func clientIsLive(afterUs: Int, nowUs: Int) {
        opening -= 1
        live += 1
        liveUs = nowUs
        figures.connect.add(afterUs)
    }

    func clientEnded(_ client: LoadClient, wasLive: Bool, _ reason: String) {
        away += 1
        if wasLive { live -= 1 } else { opening -= 1 }
        door?.ended(client)
        guard !isClosing else { return }
        if !client.isLeaving {
            figures.broken += 1
            note(wasLive ? "a connection ended: \(reason)" : "a connection could not be made: \(reason)")
        }
        if behaviour?.ended(client) == true { client.connect() }
    }

    // MARK: AgentPart

    func obey(_ command: AgentCommand) {
        switch command {
        case .open:
            (firstUnopened, openedUs, liveUs, isClosing) = (0, 0, 0, false)
            openMore(Clock.monotonicUs())
        case .close:
            (firstUnopened, isClosing) = (Int.max, true)
            for client in clients { client.leave() }
        case .load(let plan):
            self.plan = plan
            door?.begin(plan)
            behaviour?.begins(plan)
        case .tell(let text):
            behaviour?.told(text)
        }
    }

    func tick(_ nowUs: Int) {
        openMore(nowUs)
        behaviour?.tick(nowUs)
    }

    func snapshot() -> AgentSnapshot {
        defer {
            figures.removeAll()
            said = []
            notesTold = notes.count
        }
        return AgentSnapshot(
            figures: figures,
            isDone: (behaviour?.isDone ?? true) && (door?.isDone ?? true) && opening == 0
                && firstUnopened >= clients.count,
            live: live, away: away,
            openedUs: openedUs, liveUs: liveUs,
            notes: Array(notes[notesTold...]), said: said)
    }

    /// Starts the connections that are due, or the process's share of those under way.
    private func openMore(_ nowUs: Int) {
        guard firstUnopened < clients.count else { return }
        var due = Int.max
        if options.ramp > 0, openedUs > 0 {
            due = (nowUs - openedUs) * options.ramp / processCount / 1_000_000 + 1
        } else if options.ramp > 0 {
            due = 1
        }
        let openingMax = options.ramp > 0 ? Int.max : max(BenchOptions.openingMax / processCount, 1)
        while firstUnopened < min(clients.count, due), opening < openingMax {
            let client = clients[firstUnopened]
            firstUnopened += 1
            client.connect()
        }
    }
}
