import Core
import RedisLink

/// What a script on a cluster reads and tells where it cannot reach: topics of other masters.
extension CommandRunner {
    /// Reads of one call that are on their way at once: others use the links, too.
    private static let readsAtOnce = 200

    /// A script with its call, which is run until it wants no more reads.
    struct Run {
        let descriptor: CommandDescriptor
        let script: ScriptTable.Entry
        let call: CommandCallBuilder.Call
        /// `nil` where the script reaches all it reads.
        var elsewhere: ReadsElsewhere?
    }

    /// Makes the reads that a script asks for, some at a time; then what it is given, or why there is nothing.
    func read(
        _ asked: [RESPValue], _ run: Run, _ completion: @escaping (Result<Run, CommandFailure>) -> Void
    ) {
        var elsewhere = run.elsewhere ?? ReadsElsewhere()
        do throws(ReadsElsewhere.Fault) {
            let reads = try elsewhere.begin(asked, settings.keys)
            guard !reads.isEmpty else { throw .unsound }
            var next = run
            next.elsewhere = elsewhere
            Gathering(self, reads, next, completion).go()
        } catch {
            completion(.failure(failure(of: run, error)))
        }
    }

    private func failure(of run: Run, _ fault: ReadsElsewhere.Fault) -> CommandFailure {
        switch fault {
        case .tooMany:
            return CommandFailure(Refusal(.unavailable, "too much of other topics would have to be read"))
        case .unsound:
            onScriptFault(
                run.descriptor.scriptName, "reads what is neither a key of the header nor a topic's log or time")
            return CommandFailure(Refusal(.internalError, "the command failed; the gateway's log tells why"))
        }
    }

    /// The reads of one round.
    private final class Gathering {
        private let runner: CommandRunner
        private let completion: (Result<Run, CommandFailure>) -> Void
        private var reads: ArraySlice<ReadsElsewhere.Read>
        private var run: Run
        private var inFlight = 0
        private var hasEnded = false
        private var isSending = false

        init(
            _ runner: CommandRunner, _ reads: [ReadsElsewhere.Read], _ run: Run,
            _ completion: @escaping (Result<Run, CommandFailure>) -> Void
        ) {
            self.runner = runner
            self.reads = reads[...]
            self.run = run
            self.completion = completion
        }

        func go() {
            // An answer that comes at once does not begin another turn of this loop.
            guard !isSending else { return }
            isSending = true
            while !hasEnded, inFlight < CommandRunner.readsAtOnce, let read = reads.popFirst() {
                inFlight += 1
                guard let call = read.call else {
                    answered(read.id, .success(read.nothing))
                    continue
                }
                runner.link.call(call) { [self] in answered(read.id, $0) }
            }
            isSending = false
            if reads.isEmpty, inFlight == 0 { end(.success(run)) }
        }

        private func answered(_ id: [UInt8], _ result: Result<RESPValue, RedisFailure>) {
            inFlight -= 1
            guard !hasEnded else { return }
            let value: RESPValue
            switch result {
            case .success(let reply): value = reply
            // What is wrong with one key is for the script, as on one server.
            case .failure(let failure) where failure.kind == .wrongType || failure.kind == .other:
                value = .error(Array(failure.detail.utf8))
            case .failure(let failure): return end(.failure(CommandFailure(failure.refusal)))
            }
            do throws(ReadsElsewhere.Fault) {
                try run.elsewhere?.add(id, value)
            } catch {
                return end(.failure(runner.failure(of: run, error)))
            }
            go()
        }

        private func end(_ result: Result<Run, CommandFailure>) {
            guard !hasEnded else { return }
            hasEnded = true
            completion(result)
        }
    }

    /// Tells what a script says to topics of other masters, at most once as everything that `tell_now` says.
    func tellElsewhere(_ reply: Result<RESPValue, RedisFailure>) {
        guard link.isSharded, case .success(let value) = reply, let fields = value.elements, fields.count > 4,
            let words = fields[4].elements?.compactMap(\.bytes)
        else { return }
        for place in stride(from: 0, to: words.count - 1, by: 2) {
            link.call(RedisCall("SPUBLISH", words[place], words[place + 1])) { _ in }
        }
    }
}
