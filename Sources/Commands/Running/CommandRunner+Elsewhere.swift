import Core
import RedisLink

/// Reads and sends for a script on a cluster that concern topics of other masters, which the script cannot reach.
extension CommandRunner {
    /// The most reads of one call in flight at once, because other calls use the links as well.
    private static let readsAtOnce = 200

    /// A script with its call, which runs again until it asks for no more reads.
    struct Run {
        let descriptor: CommandDescriptor
        let script: ScriptTable.Entry
        var call: CommandCallBuilder.Call
        let caller: CommandCaller
        /// `nil` when the script reaches everything that it reads.
        var elsewhere: ReadsElsewhere?
    }

    /// Makes the reads that a script asks for, a limited number at a time; then completes with the next run, or a
    /// failure.
    func read(
        _ asked: [RESPValue], _ run: Run, _ completion: @escaping (Result<Run, Refusal>) -> Void
    ) {
        var elsewhere = run.elsewhere ?? ReadsElsewhere()
        do throws(ReadsElsewhere.Fault) {
            let reads = try elsewhere.begin(asked, settings.keys)
            guard !reads.isEmpty else { throw .unsound }
            var next = run
            next.elsewhere = elsewhere
            Gathering(self, reads, next, completion).go()
        } catch {
            completion(.failure(refusal(of: run, error)))
        }
    }

    private func refusal(of run: Run, _ fault: ReadsElsewhere.Fault) -> Refusal {
        switch fault {
        case .tooMany:
            return Refusal(.unavailable, "too much of other topics would have to be read")
        case .unsound:
            onScriptFault(
                run.descriptor.scriptName, "reads what is neither a key of the header nor a topic's log or time")
            return .brokenScript
        }
    }

    /// The reads of one round.
    private final class Gathering {
        private let runner: CommandRunner
        private let completion: (Result<Run, Refusal>) -> Void
        private var reads: ArraySlice<ReadsElsewhere.Read>
        private var run: Run
        private var inFlight = 0
        private var hasEnded = false
        private var isSending = false

        init(
            _ runner: CommandRunner, _ reads: [ReadsElsewhere.Read], _ run: Run,
            _ completion: @escaping (Result<Run, Refusal>) -> Void
        ) {
            self.runner = runner
            self.reads = reads[...]
            self.run = run
            self.completion = completion
        }

        func go() {
            // A reply that arrives at once must not start this loop a second time.
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
            // An error of one key is given to the script, as on a single server.
            case .failure(let failure) where failure.kind == .wrongType || failure.kind == .other:
                value = .error(Array(failure.detail.utf8))
            case .failure(let failure): return end(.failure(failure.refusal))
            }
            do throws(ReadsElsewhere.Fault) {
                try run.elsewhere?.add(id, value)
            } catch {
                return end(.failure(runner.refusal(of: run, error)))
            }
            go()
        }

        private func end(_ result: Result<Run, Refusal>) {
            guard !hasEnded else { return }
            hasEnded = true
            completion(result)
        }
    }

    /// Sends a script's `tell_now` events for topics of other masters, at most once like all `tell_now` events.
    func reportElsewhere(_ reply: Result<RESPValue, RedisFailure>) {
        guard link.isSharded, case .success(let value) = reply, let fields = value.elements, fields.count > 4,
            let words = fields[4].elements?.compactMap(\.bytes)
        else { return }
        for place in stride(from: 0, to: words.count - 1, by: 2) {
            link.call(RedisCall("SPUBLISH", words[place], words[place + 1])) { _ in }
        }
    }
}
