import Core
import RedisLink

/// Steps: on a cluster, what a script leaves to commands at other ids and its caller waits for.
///
/// The script has put each step into its outbox together with its own writes. The runner makes them at once and
/// deletes their entries. When it cannot, the worker makes them later.
extension CommandRunner {
    /// A step that a script's reply reports.
    struct Step {
        /// The entry in the outbox.
        let entry: [UInt8]
        let command: String
        let arguments: [UInt8]
        /// Whether the caller gets the step's answer.
        let answers: Bool

        init?(_ reply: RESPValue) {
            guard let words = reply.elements?.compactMap(\.bytes), words.count == 4 else { return nil }
            (entry, command, arguments) = (words[0], String(decoding: words[1], as: UTF8.self), words[2])
            answers = words[3] == [UInt8(ascii: "1")]
        }
    }

    private static let unfinished = Refusal(
        .unavailable, "The call was begun, and is finished once the data that it needs are within reach.")

    /// The steps that a reply reports, in order.
    static func steps(_ reply: Result<RESPValue, RedisFailure>) -> [Step] {
        guard case .success(let value) = reply, let fields = value.elements, fields.count > 5 else { return [] }
        return fields[5].elements?.compactMap { Step($0) } ?? []
    }

    /// Makes the steps of a run one after the other, and completes with the answer for the caller.
    func carry(
        _ steps: ArraySlice<Step>, of run: Run, _ answer: CommandAnswer, _ completion: @escaping Completion
    ) {
        guard let step = steps.first else { return completion(.answer(answer)) }
        guard let descriptor = commands(step.command),
            let json = try? JSON(parsing: step.arguments, limits: settings.answerLimits),
            let bound = try? ArgumentBinder.bind(descriptor, body: json.root, caller: .worker)
        else {
            onScriptFault(run.descriptor.scriptName, "its step \(step.command) cannot be called")
            return completion(.refused(.brokenScript))
        }
        let payer = run.caller.payer
        self.run(descriptor, bound, caller: .worker(for: payer), operation: nil) { [self] outcome in
            guard case .answer(let told) = outcome else {
                return completion(.refused(CommandRunner.unfinished))
            }
            delete(step.entry, payer, run.call.keys[0])
            carry(steps.dropFirst(), of: run, step.answers ? answer.with(json: told.json) : answer, completion)
        }
    }

    /// Deletes the entry of a step that is done; if that is lost, the worker does the step again, without effect.
    private func delete(_ entry: [UInt8], _ payer: [UInt8], _ outbox: [UInt8]) {
        guard let script = scripts["outbox_done"] else { return }
        let keys = [outbox, outbox + Array(":payers".utf8)]
        link.run(ScriptCall(script: script.id, keys: keys, arguments: [entry, payer]), lane: nil) { _ in }
    }
}
