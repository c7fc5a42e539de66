import Core
import Reactors

/// Lets a process's subscribers publish in turn, over their own sockets (Switchboard's event `publish`).
///
/// Thread: main.
final class ClientDoor {
    private unowned let crew: ClientCrew
    private var publisher: Publisher?
    /// Publishes under way by client, oldest first: a gateway answers a connection's requests in order.
    private var underWay: [Int: Ring<PublishJob>] = [:]
    private var next = 0
    private var refs = 0

    init(_ reactor: Reactor, _ crew: ClientCrew, _ settings: AgentSettings) throws(BenchFailure) {
        self.crew = crew
        publisher = try Publisher(
            reactor, settings.options, stride: settings.count, offset: settings.index,
            note: { [unowned crew] in crew.note($0) }, count: { [unowned crew] in $0(&crew.figures) },
            send: { [unowned self] in send($0) })
    }

    var isDone: Bool { publisher?.isDone ?? true }

    func begin(_ plan: LoadPlan) { publisher?.begin(plan) }

    private func send(_ job: PublishJob) {
        let clients = crew.clients
        for _ in clients.indices {
            let client = clients[next % clients.count]
            next += 1
            guard client.stage == .live else { continue }
            refs += 1
            var text = Array("{\"event\":\"publish\",\"topic\":\"\(job.topic)\",\"ref\":\(refs),".utf8)
            text.append(text: "\"data\":{\"event\":\"e\",\"data\":" as StaticString)
            text += job.data
            text.append(text: "}}" as StaticString)
            underWay[client.number, default: Ring()].append(job)
            client.send(text)
            return
        }
        publisher?.answered(job, refusal: "no client is live")
    }

    /// Takes an answer; false when the message is no answer.
    func took(_ client: LoadClient, _ text: Span<UInt8>) -> Bool {
        let isError = Target.begins(text, "{\"event\":\"error\"")
        guard isError || Target.begins(text, "{\"event\":\"ack\""),
            let job = underWay[client.number]?.popFirst()
        else { return false }
        publisher?.answered(job, refusal: isError ? LoadClient.text(text, 200) : nil)
        return true
    }

    /// The client's connection has ended: its publishes under way are not answered any more.
    func ended(_ client: LoadClient) {
        while let job = underWay[client.number]?.popFirst() {
            publisher?.answered(job, refusal: "the client's connection ended")
        }
    }
}
