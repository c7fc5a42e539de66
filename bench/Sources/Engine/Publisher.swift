import Reactors

/// One publish.
struct PublishJob {
    var topic: String
    var data: [UInt8]
    var dueUs: Int
    /// Number of clients that have to receive it, when it is measured; `nil` when it is not.
    var members: Int?
    /// The sender's identifier of it.
    var tag = 0
}

/// Publishes each item of a plan when it is due, whatever happened to earlier ones (an open loop), and counts the
/// answers.
///
/// Each message carries the time at which it was due. Waiting anywhere, also in the tool, is thus part of its latency
/// (coordinated omission corrected). Thread: main.
final class Publisher {
    /// Adds to the figures.
    let count: ((inout RunFigures) -> Void) -> Void
    /// Sends a publish; the answer is reported by ``answered(_:refusal:)``.
    private let send: (PublishJob) -> Void
    private let note: (String) -> Void
    private let options: BenchOptions
    private let (stride, offset): (Int, Int)
    private var timer: PrecisionTimer?
    private var plan: LoadPlan?
    private var next = 0
    private var underWay = 0

    /// Publishes sent before answers are checked again.
    private static let burst = 128

    /// Publishes item `offset` of the plan and every `stride`-th one after it.
    init(
        _ reactor: Reactor, _ options: BenchOptions, stride: Int, offset: Int, note: @escaping (String) -> Void,
        count: @escaping ((inout RunFigures) -> Void) -> Void, send: @escaping (PublishJob) -> Void
    ) throws(BenchFailure) {
        self.options = options
        (self.stride, self.offset, self.note, self.count, self.send) = (stride, offset, note, count, send)
        do {
            timer = try PrecisionTimer(reactor) { [unowned self] in publishDue() }
        } catch {
            throw BenchFailure("cannot publish: \(error)")
        }
    }

    /// Whether everything was sent and answered.
    var isDone: Bool { underWay == 0 && next >= (plan?.count ?? 0) }

    func begin(_ plan: LoadPlan) {
        self.plan = plan
        next = offset
        timer?.set(atUs: plan.dueUs(next))
    }

    private func publishDue() {
        guard let plan else { return }
        let nowUs = Clock.monotonicUs()
        for _ in 0..<Publisher.burst {
            guard next < plan.count, plan.dueUs(next) <= nowUs else { break }
            publish(plan, next, nowUs)
            next += stride
        }
        if next < plan.count { timer?.set(atUs: plan.dueUs(next)) }
    }

    private func publish(_ plan: LoadPlan, _ index: Int, _ nowUs: Int) {
        let (dueUs, topic) = (plan.dueUs(index), plan.topic(index))
        var members: Int?
        if plan.isMeasured(dueUs) {
            let all = plan.members(ofTopic: topic)
            members = all
            count { figures in
                figures.published += 1
                figures.expected += all
                figures.late.add(nowUs - dueUs)
            }
        }
        underWay += 1
        send(
            PublishJob(
                topic: options.topicName(topic),
                data: Message.data(sequence: plan.sequence(index), dueUs: dueUs, bytes: options.bytes), dueUs: dueUs,
                members: members))
    }

    /// Takes an answer; with a `refusal` no client will receive the message.
    func answered(_ job: PublishJob, refusal: String?) {
        underWay -= 1
        if let refusal { note("publish refused: \(refusal)") }
        guard let members = job.members else { return }
        let nowUs = Clock.monotonicUs()
        count { figures in
            figures.answer.add(nowUs - job.dueUs)
            guard refusal != nil else { return }
            figures.refused += 1
            figures.expected -= members
        }
    }
}
