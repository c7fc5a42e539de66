import Core
import RedisLink

/// The reads of a read-only script on a cluster that concern topics of other masters, with their answers.
///
/// The script returns its reads in place of an answer (`lua/core/runtime/elsewhere.lua`) and runs again with the results. This
/// is a value: the runner makes the calls.
struct ReadsElsewhere {
    /// The reason why no further read is made.
    enum Fault: Error, Equatable {
        /// More reads, rounds or bytes than one call may have.
        case tooMany
        /// A read of something else than a topic's log or latest time.
        case unsound
    }

    /// A read to make.
    struct Read {
        /// The name under which the script receives the answer.
        let id: [UInt8]
        /// The call; `nil` for a name that no topic has, since nothing is stored there.
        let call: RedisCall?
        /// The answer when nothing is stored.
        let nothing: RESPValue
    }

    /// The most runs of the script for reads, without the last; a script that needs more asks for something new each
    /// time.
    static let roundsMax = 12
    /// The most reads of one call: a thousand topics and some of their logs.
    static let readsMax = 2_000
    /// The most bytes of all answers of one call, which Redis receives with each run.
    static let bytesMax = 4_194_304
    /// The cost of each read to a master, microseconds.
    static let readUs = 2

    private static let commands = ["GET", "XRANGE", "XREVRANGE"].map { Array($0.utf8) }
    private static let facets = ["#log", "#latest"].map { Array($0.utf8) }
    private static let wordsMax = 8

    /// The number of times that the script asked.
    private(set) var rounds = 0
    /// The number of reads that were answered.
    private(set) var readCount = 0
    private var answers: [UInt8] = []

    /// The reads that a reply asks for; `nil` when it is an answer.
    static func asked(_ reply: RESPValue) -> [RESPValue]? {
        guard let fields = reply.elements, fields.count == 3, fields[1].integer == 2 else { return nil }
        return fields[2].elements
    }

    /// Takes the reads that a script asks for, and returns the reads to make.
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

    /// Takes an answer, which may be an error of the key; any other failure ends the call elsewhere.
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
