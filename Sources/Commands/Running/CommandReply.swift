import Core
import RedisLink

/// Turns Redis's reply to a call into the outcome that the caller receives.
///
/// Replies are untrusted: a reply that does not fit becomes the error `internal`, never a trap.
enum CommandReply {
    /// An outcome, and the text for the log when the script or its data are at fault.
    struct Reading {
        let outcome: CommandOutcome
        var fault: String?
    }

    /// The most that a run's events, calls and changes of members may cost, in publishes.
    ///
    /// It allows `EFFECTS_MAX` calls at `CALL_PRICE` each, and as much again charged by `charge`, at one event each
    /// (command.lua).
    static let priceMax = 7_000

    /// The most bytes that a run may report for its events and calls: more than Redis accepts in one call.
    static let bytesMax = 1_073_741_824

    /// The cost of a call to its caller, `PRICE[:BYTES[:1]]`: publishes, bytes of events and calls, and whether marked
    /// rates count the call.
    struct Price {
        var publishes = 0
        var bytes = 0
        var isMarked = false

        init() {}

        init?(_ text: some Collection<UInt8>) {
            let words = text.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
            let numbers = words.compactMap { ASCII.decimal($0) }
            guard numbers.count == words.count, (1...3).contains(numbers.count) else { return nil }
            publishes = numbers[0]
            if numbers.count > 1 { bytes = numbers[1] }
            isMarked = numbers.count > 2 && numbers[2] == 1
        }
    }

    /// A script's reply: `PRICE ANSWER`, or a table when there are further fields.
    private struct Parts {
        let text: [UInt8]
        var isRetry = false
        var price = Price()
        var minted: [UInt8]?

        init?(_ reply: RESPValue) {
            if let bytes = reply.bytes {
                guard let space = bytes.firstIndex(of: UInt8(ascii: " ")), let price = Price(bytes[..<space])
                else { return nil }
                self.price = price
                text = Array(bytes[(space + 1)...])
            } else {
                guard let fields = reply.elements, fields.count >= 2, let text = fields[0].bytes,
                    let retry = fields[1].integer, retry == 0 || retry == 1
                else { return nil }
                self.text = text
                isRetry = retry == 1
                // A retry does nothing, so its reply has no price.
                if fields.count > 2 {
                    let text = fields[2].bytes ?? Array("\(fields[2].integer ?? 0)".utf8)
                    guard let price = Price(text) else { return nil }
                    self.price = price
                }
                if fields.count > 3 { minted = fields[3].bytes }
            }
            guard (0...CommandReply.priceMax).contains(price.publishes),
                (0...CommandReply.bytesMax).contains(price.bytes)
            else { return nil }
        }
    }

    static func read(
        _ reply: Result<RESPValue, RedisFailure>, _ descriptor: CommandDescriptor, _ settings: CommandSettings
    ) -> Reading {
        switch reply {
        case .success(let value):
            guard let parts = Parts(value) else { return faulty("a reply of another shape") }
            guard parts.text.count <= settings.answerBytesMax else { return faulty("an answer of too many bytes") }
            do throws(JSON.Problem) {
                let json = try JSON(parsing: parts.text, limits: settings.answerLimits)
                guard json.root.kind == .object else { return faulty("an answer that is no JSON object") }
                var answer = CommandAnswer(json: parts.text, isRetry: parts.isRetry, price: parts.price.publishes)
                (answer.bytesSent, answer.isMarked) = (parts.price.bytes, parts.price.isMarked)
                if descriptor.mint != nil, let words = parts.minted, !words.isEmpty {
                    guard let minted = MintedGrant(words) else { return faulty("a token that is none") }
                    answer.minted = minted
                }
                return Reading(outcome: .answer(answer))
            } catch {
                return faulty("an answer that is " + error.rawValue)
            }
        case .failure(let failure):
            return failed(failure, descriptor)
        }
    }

    private static func faulty(_ fault: String) -> Reading {
        Reading(outcome: .refused(.brokenScript), fault: fault)
    }

    private static func failed(_ failure: RedisFailure, _ descriptor: CommandDescriptor) -> Reading {
        // The server's own errors have kinds; all others are texts of scripts.
        guard failure.kind == .other || failure.kind == .script else {
            return Reading(outcome: .refused(failure.refusal), fault: isOurs(failure) ? failure.detail : nil)
        }
        let (word, rest) = HeaderText.cut(failure.detail, at: " ") ?? (failure.detail, "")
        if word == "FENCED" { return Reading(outcome: .fenced) }
        if word == "STALE" { return Reading(outcome: .stale) }
        guard word == "FAIL" else { return faulty(failure.detail) }
        let (code, message) = HeaderText.cut(rest, at: " ") ?? (rest, "")
        guard let error = descriptor.error(code) else {
            return faulty("fails with a code that its @errors does not name: " + failure.detail)
        }
        return Reading(outcome: .refused(Refusal(error, message)))
    }

    /// Whether a person must fix the cause, because waiting does not help.
    private static func isOurs(_ failure: RedisFailure) -> Bool {
        switch failure.kind {
        case .wrongType, .noPermission, .crossSlot, .aborted: true
        default: false
        }
    }
}
