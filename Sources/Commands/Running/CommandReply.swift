import Core
import RedisLink

/// What Redis replied to a call, turned into what the caller is told.
///
/// Replies are untrusted: what does not fit is `internal`, never a trap.
enum CommandReply {
    /// An outcome, and the words for the log when the script or its data is at fault.
    struct Reading {
        let result: Result<CommandAnswer, CommandFailure>
        var fault: String?
    }

    static func read(
        _ reply: Result<RESPValue, RedisFailure>, _ descriptor: CommandDescriptor, _ settings: CommandSettings
    ) -> Reading {
        switch reply {
        case .success(let value):
            guard let fields = value.elements, fields.count >= 2, let text = fields[0].bytes,
                let retry = fields[1].integer, retry == 0 || retry == 1
            else { return faulty("a reply of another shape") }
            guard text.count <= settings.answerBytesMax else { return faulty("an answer of too many bytes") }
            // A retry does nothing, and says nothing about it.
            let effects = fields.count > 2 ? max(fields[2].integer ?? 0, 0) : 0
            do throws(JSON.Problem) {
                let json = try JSON(parsing: text, limits: settings.answerLimits)
                guard json.root.kind == .object else { return faulty("an answer that is no JSON object") }
                var answer = CommandAnswer(json: text, isRetry: retry == 1, effects: effects)
                if descriptor.mint != nil, fields.count > 3, let words = fields[3].bytes, !words.isEmpty {
                    guard let minted = MintedGrant(words) else { return faulty("a token that is none") }
                    answer.minted = minted
                }
                return Reading(result: .success(answer))
            } catch {
                return faulty("an answer that is " + error.rawValue)
            }
        case .failure(let failure):
            return failed(failure, descriptor)
        }
    }

    private static func faulty(_ fault: String) -> Reading {
        Reading(
            result: .failure(
                CommandFailure(Refusal(.internalError, "the command failed; the gateway's log tells why"))),
            fault: fault)
    }

    private static func failed(_ failure: RedisFailure, _ descriptor: CommandDescriptor) -> Reading {
        // The server's own errors have kinds; a script's words are the rest.
        guard failure.kind == .other || failure.kind == .script else {
            return Reading(
                result: .failure(CommandFailure(failure.refusal)), fault: isOurs(failure) ? failure.detail : nil)
        }
        let (word, rest) = HeaderText.cut(failure.detail, at: " ") ?? (failure.detail, "")
        if word == "FENCED" { return Reading(result: .failure(.fenced)) }
        if word == "STALE" { return Reading(result: .failure(.stale)) }
        guard word == "FAIL" else { return faulty(failure.detail) }
        let (code, message) = HeaderText.cut(rest, at: " ") ?? (rest, "")
        guard let error = descriptor.error(code) else {
            return faulty("fails with a code that its @errors does not name: " + failure.detail)
        }
        return Reading(result: .failure(CommandFailure(error, message)))
    }

    /// Whether a person must mend something: the kinds that no waiting heals.
    private static func isOurs(_ failure: RedisFailure) -> Bool {
        switch failure.kind {
        case .wrongType, .noPermission, .crossSlot, .aborted: true
        default: false
        }
    }
}
