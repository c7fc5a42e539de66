import Commands
public import Core
public import Dialects
import RedisLink
import Rights
public import Topics

/// Events by time, for clients that know no positions.
extension EventLog {
    /// Reads the newest events of a topic since a time, in one call; creates nothing.
    ///
    /// The asker's budget is charged. Where a script decides who may join, it is asked first.
    public func replay(
        _ topic: Topic, _ wanted: ReplayRequest, asker: ReadCaller,
        _ completion: @escaping (Result<Replay, Refusal>) -> Void
    ) {
        guard !isPersonal(topic) else {
            return peek(topic, asker) { [self] result in
                switch result {
                case .failure(let refusal): completion(.failure(refusal))
                case .success: readReplay(topic, wanted, payer: asker.payer, completion)
                }
            }
        }
        readReplay(topic, wanted, payer: asker.payer, completion)
    }

    private func readReplay(
        _ topic: Topic, _ wanted: ReplayRequest, payer: Payer, _ completion: @escaping (Result<Replay, Refusal>) -> Void
    ) {
        let arguments = [EventLog.decimal(wanted.sinceMs), EventLog.decimal(wanted.limit)]
        let key = SharedReader<Replay>.Key(
            script: "replay", keys: [topic.bytes], arguments: arguments, isAnonymous: payer.kind == .anonymous)
        replays.read(
            key, payer: payer, weightUs: scripts.replayUs, run: { [self] done in readReplay(topic, arguments, done) },
            completion)
    }

    private func readReplay(
        _ topic: Topic, _ arguments: [[UInt8]], _ completion: @escaping (Result<Replay, Refusal>) -> Void
    ) {
        guard let run = link.fence(of: keys.meta(topic)) else {
            return completion(.failure(.storeUnavailable))
        }
        let call = ScriptCall(
            script: scripts.replay, keys: [keys.log(topic), keys.meta(topic)],
            arguments: [run] + arguments + [EventLog.decimal(limits.logPageBytesMax)], fenceAt: 0)
        let json = limits.answers
        link.run(call, lane: nil) { result in
            completion(
                result.mapError(\.refusal).flatMap { value in
                    guard let fields = value.elements, fields.count == 3, let epoch = fields[0].bytes,
                        let entries = fields[2].elements
                    else { return .failure(EventLog.nonsense) }
                    guard !epoch.isEmpty else { return .success(Replay(position: nil, events: [])) }
                    guard let top = EventLog.position(fields[0], fields[1]) else { return .failure(EventLog.nonsense) }
                    let events = entries.compactMap { EventLog.event($0, epoch: top.epoch, json: json) }
                    return .success(Replay(position: top, events: events))
                })
        }
    }
}
