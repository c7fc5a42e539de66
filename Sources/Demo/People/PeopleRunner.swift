import Configuration
import Connections
import Core
import Reactors
import Rights
import Service

/// Performs what the town of the simulated people decides, each person on a connection of its own.
///
/// Thread: the people's.
final class PeopleRunner: NodeResident {
    /// A person's connection, and the calls on it that have no answer yet.
    private struct Line {
        var connection: PersonConnection?
        var calls: [Int: PeopleCall] = [:]
        var dialMs = 0
        /// Tries in a row that did not reach the gateway.
        var failures = 0
    }

    private let reactor: Reactor
    private let context: ConnectionContext
    private let people: DemoPeople
    private let guests: DemoGuests
    private let tls: TLSContext
    private let endpoint: Endpoint
    private let host: String
    private let authority: String
    private let log: Log
    private let beganMs: Int
    private var lines: [Line]
    private var town: PeopleTown<SystemRandomNumberGenerator>
    private var timer: ReactorTimer?
    private var isEnding = false

    private static let tickMs = 100
    /// Milliseconds between two tries to connect.
    private static let dialEveryMs = 500
    /// Tries after which the log says that the gateway is not reached.
    private static let failuresTold = 20
    /// Calls of a person without an answer; more are left out.
    private static let callsMax = 50

    init(
        reactor: Reactor, people: DemoPeople, guests: DemoGuests, reach: GatewayReach, limits: Limits, log: Log
    ) throws(Errno) {
        (self.reactor, self.people, self.guests, self.log) = (reactor, people, guests, log)
        guard let address = IPAddress(text: reach.address.host.utf8),
            let tls = try? TLSContext(clientTrusting: reach.certificate)
        else { throw Errno(code: 22) }
        self.tls = tls
        endpoint = .tcp(address, port: reach.address.port)
        (host, authority) = (reach.address.host, reach.address.description)
        context = ConnectionContext(reactor: reactor, limits: ConnectionLimits(limits, reactors: 1))
        let names = DemoPeople.names
        lines = names.map { _ in Line() }
        town = PeopleTown(names: names, run: DemoGuests.randomText(6), random: SystemRandomNumberGenerator())
        beganMs = reactor.nowMs
        timer = try ReactorTimer(reactor) { [unowned self] in tick() }
        timer?.set(atMs: reactor.nowMs)
    }

    func end() {
        isEnding = true
        for line in lines { line.connection?.close() }
        reactor.stop()
    }

    /// Does nothing: people have no files.
    func reload() {}

    // MARK: Time

    private func tick() {
        timer?.set(atMs: reactor.nowMs + PeopleRunner.tickMs)
        for person in lines.indices where lines[person].connection == nil { dial(person) }
        for visit in people.takeVisits() { town.visited(visit) }
        for action in town.due(reactor.nowMs - beganMs) { perform(action) }
        people.sessionCode = town.session?.code ?? ""
    }

    private func perform(_ action: PeopleAction) {
        switch action {
        case .call(let call):
            guard let connection = lines[call.person].connection,
                lines[call.person].calls.count < PeopleRunner.callsMax
            else { return }
            lines[call.person].calls[connection.send(call.command, call.arguments)] = call
        case .subscribe(let person, let topic):
            _ = lines[person].connection?.send("subscribe", Members().with("topic", topic).json)
        case .order(let fails):
            // An order that cannot be sent now is left out; the next one follows in half a minute.
            _ = try? OrderRequest(
                context, to: endpoint, tls: tls, host: host, authority: authority, fails: fails)
        }
    }

    // MARK: Connections

    private func dial(_ person: Int) {
        guard !isEnding, reactor.nowMs >= lines[person].dialMs else { return }
        lines[person].dialMs = reactor.nowMs + PeopleRunner.dialEveryMs
        do {
            let token = try guests.person(town.names[person], nowSeconds: Clock.wallMs() / 1_000)
            lines[person].connection = try PersonConnection(
                context, to: endpoint, tls: tls, host: host, authority: authority, token: token
            ) { [unowned self] news in heard(person, news) }
        } catch {
            failed(person, "\(error)")
        }
    }

    private func heard(_ person: Int, _ news: PersonConnection.News) {
        switch news {
        case .opened:
            lines[person].failures = 0
            town.arrived(person)
        case .message(let event, let ref, let data):
            guard let ref else { return town.heard(person, event, data) }
            guard let call = lines[person].calls.removeValue(forKey: ref) else { return }
            guard event == "error" else { return town.answered(call, data, refusal: nil) }
            let code = data["code"]?.string ?? ""
            log.write(.debug, "a call of the demo's people was refused", [("call", call.command), ("code", code)])
            town.answered(call, nil, refusal: code)
        case .ended(let reason):
            let dialMs = lines[person].dialMs
            let failures = lines[person].failures
            lines[person] = Line(dialMs: dialMs, failures: failures)
            town.left(person)
            if !isEnding { failed(person, reason) }
        }
    }

    private func failed(_ person: Int, _ reason: String) {
        lines[person].failures += 1
        guard lines[person].failures == PeopleRunner.failuresTold, person == 0 else { return }
        log.write(.warn, "the demo's people do not reach the gateway", [("reason", reason)])
    }
}
