import Configuration
import Core
import Operations
public import Reactors
import Rights
public import Service
import Sessions

/// The taps of a shard: each records what passes on the connection of one session, for a bounded time.
///
/// Beginning and end go to the log, with the key and the session. A tap is read by the key that opened it alone. Thread:
/// the shard's.
public final class WireTaps {
    /// A tap, and whose it is.
    private final class Watch {
        let tap: WireTap
        let session: [UInt8]
        let key: [UInt8]
        let caller: Caller
        /// The session, as rows of answers show it: members of a JSON object.
        let content: [UInt8]
        /// When it ends, and when what it has recorded is dropped; monotonic milliseconds.
        let endMs: Int, dropMs: Int

        init(_ tap: WireTap, of session: Session, key: [UInt8], content: [UInt8], endMs: Int) {
            (self.tap, self.key, self.content, self.endMs) = (tap, key, content, endMs)
            self.session = session.id
            caller = session.caller
            dropMs = endMs + WireTaps.keptMs
        }
    }

    private let clock: ShardClock
    private let log: Log
    private var watches: [Watch] = []
    private var timer: ReactorTimer?

    /// How long a tap may record.
    static let seconds = 1...60
    /// How long one records that says nothing else.
    static let secondsUsual = 30
    /// Taps of a shard, with those that have ended and can still be read.
    private static let watchesMax = 8
    /// Time for which an ended tap can be read, milliseconds.
    private static let keptMs = 30_000
    /// Bytes of one answer, and its messages.
    private static let answerBytesMax = 196_608, answerFramesMax = 400
    /// The state of a tap stands before its messages.
    private static let rankOfState = 1 << 48

    /// The taps of a shard; none yet.
    public init(_ clock: ShardClock, _ log: Log, _ reactor: Reactor) throws(Errno) {
        (self.clock, self.log) = (clock, log)
        timer = try ReactorTimer(reactor) { [unowned self] in timerFired() }
    }

    // MARK: Orders

    /// Begins to record; the answer has the state, or the fault `busy`.
    func begin(_ session: Session, _ question: FleetQuestion, _ row: FleetRow) -> FleetAnswer {
        let seconds = question.parameters[.seconds].flatMap { ASCII.decimal($0) } ?? WireTaps.secondsUsual
        let key = question.parameters[.by] ?? []
        // A second tap of a session takes the place of the first.
        watches.removeAll { $0.session == session.id && $0.key == key && $0.tap.end != nil }
        if watches.count >= WireTaps.watchesMax, let ended = watches.firstIndex(where: { $0.tap.end != nil }) {
            watches.remove(at: ended)
        }
        guard watches.count < WireTaps.watchesMax else {
            var answer = FleetAnswer()
            answer.fault = .busy
            return answer
        }
        var fields = [("key", ClientLog.text(key)), ("session", ClientLog.text(session.id))]
        fields += ClientLog.fields(session.caller, at: session.address).filter { $0.0 != "key" }
        let tap = WireTap(wallMs: { [clock] in clock.wallMs }) { [log, fields] tap in
            let end: [(String, String)] = [("why", tap.end?.word ?? ""), ("messages", "\(tap.count)")]
            log.write(.info, "an operator's tap of a session ended", fields + end)
        }
        session.show(to: tap)
        log.write(.info, "an operator taps a session", fields + [("seconds", "\(seconds)")])
        watches.removeAll { $0.session == session.id && $0.tap.end == .replaced && $0.key == key }
        let watch = Watch(
            tap, of: session, key: key, content: row.content,
            endMs: clock.nowMs + min(seconds, WireTaps.seconds.upperBound) * 1_000)
        watches.append(watch)
        setTimer()
        return FleetAnswer(rows: [state(watch)], total: 0)
    }

    /// Answers with the messages behind the number `after`, and forgets those up to it.
    ///
    /// Empty where there is no such tap.
    func read(_ question: FleetQuestion) -> FleetAnswer {
        guard let watch = watch(question) else { return FleetAnswer() }
        watch.tap.forget(through: question.parameters[.after].flatMap { ASCII.decimal($0) } ?? 0)
        var rows: [FleetRow] = []
        var byteCount = 0
        for frame in watch.tap.frames.prefix(WireTaps.answerFramesMax) {
            let row = WireTaps.row(frame)
            byteCount += row.content.count
            if byteCount > WireTaps.answerBytesMax, !rows.isEmpty { break }
            rows.append(row)
        }
        return FleetAnswer(rows: [state(watch)] + rows.reversed(), total: watch.tap.frames.count)
    }

    /// Ends a tap; the answer has its state.
    func end(_ question: FleetQuestion) -> FleetAnswer {
        guard let watch = watch(question) else { return FleetAnswer() }
        watch.tap.end(.asked)
        return FleetAnswer(rows: [state(watch)], total: 0)
    }

    /// Ends the taps of a user's sessions, and forgets what they have recorded.
    func forget(_ user: [UInt8]) {
        for watch in watches where SessionRows.user(watch.caller) == user {
            watch.tap.end(.erased)
            watch.tap.forgetAll()
        }
    }

    /// The tap that the question is about, if its key has opened it.
    private func watch(_ question: FleetQuestion) -> Watch? {
        let (session, key) = (question.parameters[.session], question.parameters[.by] ?? [])
        return watches.last { $0.session == session && $0.key == key }
    }

    // MARK: Time

    private func timerFired() {
        for watch in watches where watch.endMs <= clock.nowMs { watch.tap.end(.time) }
        watches.removeAll { $0.dropMs <= clock.nowMs }
        setTimer()
    }

    private func setTimer() {
        let next = watches.map { $0.tap.end == nil ? $0.endMs : $0.dropMs }.min()
        if let next { timer?.set(atMs: next) } else { timer?.clear() }
    }

    // MARK: Rows

    private func state(_ watch: Watch) -> FleetRow {
        var text = Array(watch.content.dropLast())
        let leftMs = watch.tap.end == nil ? max(0, watch.endMs - clock.nowMs) : 0
        text.append(member: "leftMs", number: leftMs)
        text.append(member: "messages", number: watch.tap.count)
        text.append(member: "leftOut", number: watch.tap.leftOut)
        text.append(member: "ended", stringOrNull: watch.tap.end?.word.utf8)
        text.append(UInt8(ascii: "}"))
        return FleetRow(key: Array("tap".utf8), figures: [WireTaps.rankOfState], content: text)
    }

    private static func row(_ frame: WireTap.Frame) -> FleetRow {
        var text: [UInt8] = [UInt8(ascii: "{")]
        text.append(member: "number", number: frame.number)
        text.append(member: "at", string: Timestamp.text(wallMs: frame.wallMs))
        text.append(member: "direction", string: frame.direction.rawValue)
        text.append(member: "kind", string: frame.kind.rawValue)
        text.append(member: "bytes", number: frame.byteCount)
        text.append(member: "text", stringOrNull: frame.text)
        text.append(member: "cut", json: "\(frame.isCut)".utf8)
        text.append(UInt8(ascii: "}"))
        return FleetRow(key: Array("\(frame.number)".utf8), figures: [frame.number], content: text)
    }
}
