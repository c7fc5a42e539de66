import Core
import RedisLink

/// What a read-only script on a cluster wants to know of topics of other masters, and the answers that it is given.
///
/// The script returns its reads in place of an answer (`lua/core/elsewhere.lua`) and is run again with what was found. A
/// value: the runner makes the calls.
struct ReadsElsewhere {
    /// Why no further read is made.
    enum Fault: Error, Equatable {
        /// More reads, rounds or bytes than one call may have.
        case tooMany
        /// No read by which a topic's log or time is read.
        case unsound
    }

    /// A read to make.
    struct Read {
        /// The name under which its answer is given.
        let id: [UInt8]
        /// `nil` for a name that is no topic's: whoever wrote it where the script found it, there is nothing.
        let call: RedisCall?
        /// What is answered where there is nothing.
        let nothing: RESPValue
    }

    /// Runs of the script for reads, the last one not counted; more are a script that wants something else each time.
    static let roundsMax = 12
    /// Reads of one call: a thousand topics and some of their logs.
    static let readsMax = 2_000
    /// Bytes of all answers of one call, which Redis gets with each run.
    static let bytesMax = 4_194_304
    /// What reading costs a master for each read, microseconds.
    static let readUs = 2

    private static let commands = ["GET", "XRANGE", "XREVRANGE"].map { Array($0.utf8) }
    private static let facets = ["#log", "#latest"].map { Array($0.utf8) }
    private static let wordsMax = 8

    /// How often the script asked.
    private(set) var rounds = 0
    /// Reads that were answered.
    private(set) var readCount = 0
    private var answers: [UInt8] = []

    /// The reads that a reply asks for; `nil` when it is an answer.
    static func asked(_ reply: RESPValue) -> [RESPValue]? {
        guard let fields = reply.elements, fields.count == 3, fields[1].integer == 2 else { return nil }
        return fields[2].elements
    }

    /// Takes what a script asks for; the reads to make.
    mutating func begin(_ asked: [RESPValue], _ keys: Keys) throws(Fault) -> [Read] {
        rounds += 1
        guard rounds <= ReadsElsewhere.roundsMax, readCount + asked.count <= ReadsElsewhere.readsMax else {
            throw .tooMany
        }
        var reads: [Read] = []
        for read in asked {
            guard let words = read.elements?.compactMap(\.bytes), words.count == read.elements?.count,
                (2...ReadsElsewhere.wordsMax).contains(words.count),
                let command = ReadsElsewhere.commands.first(where: { $0 == words[0] })
            else { throw .unsound }
            let isTopics = ReadsElsewhere.isTopics(words[1], keys)
            let isText = command == ReadsElsewhere.commands[0]
            reads.append(
                Read(
                    id: Array(words.joined(separator: [UInt8(ascii: "\n")])),
                    call: isTopics ? ReadsElsewhere.call(command, words) : nil,
                    nothing: isText ? .null : .array([])))
        }
        return reads
    }

    /// Whether `topic_log` or `topic_latest` makes the name.
    private static func isTopics(_ name: [UInt8], _ keys: Keys) -> Bool {
        guard let facet = facets.first(where: { name.suffix($0.count).elementsEqual($0) }) else { return false }
        return keys.topic(ofChannel: Array(name.dropLast(facet.count))) != nil
    }

    private static func call(_ command: [UInt8], _ words: [[UInt8]]) -> RedisCall {
        var call: RedisCall
        switch command {
        case commands[0]: call = RedisCall("GET")
        case commands[1]: call = RedisCall("XRANGE")
        default: call = RedisCall("XREVRANGE")
        }
        for word in words.dropFirst() { call.append(word) }
        return call
    }

    /// Takes an answer; a failure of the key's is one, every other ends the call.
    mutating func add(_ id: [UInt8], _ reply: RESPValue) throws(Fault) {
        readCount += 1
        MessagePack.append(string: id, to: &answers)
        MessagePack.append(reply, to: &answers)
        guard answers.count <= ReadsElsewhere.bytesMax else { throw .tooMany }
    }

    /// The last argument of the next run: names and answers in turn; nothing for the first run.
    var argument: [UInt8] {
        guard readCount > 0 else { return [] }
        var text: [UInt8] = []
        MessagePack.append(arrayOf: readCount * 2, to: &text)
        return text + answers
    }
}
