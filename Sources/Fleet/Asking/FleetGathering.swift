import Core

/// A part that a question waits for.
enum FleetPart: Hashable, Sendable {
    /// A shard of this node.
    case shard(Int)
    /// Another node.
    case node([UInt8])
}

/// The answer of all parts, and the nodes that did not answer in time.
public struct FleetResult: Equatable, Sendable {
    /// The rows of everything that has answered.
    public var answer: FleetAnswer
    /// The nodes whose answer is missing or misses a part, with the cause.
    var missing: [[UInt8]: FleetFault] = [:]
    /// The nodes whose rows did not fit into a message.
    var cut: Set<[UInt8]> = []
    let question: FleetQuestion

    /// The names of the nodes whose answer is missing, or misses a part.
    public var unanswered: [[UInt8]] { FleetResult.sorted(missing.keys) }
    /// The names of the nodes of which anything is missing, also because it did not fit into a message.
    public var incomplete: [[UInt8]] { FleetResult.sorted(cut.union(missing.keys)) }
    /// The same as ``unanswered``, each with the word for the cause.
    public var reasons: [(node: [UInt8], word: String)] {
        unanswered.map { ($0, missing[$0]?.rawValue ?? "") }
    }

    private static func sorted(_ names: some Sequence<[UInt8]>) -> [[UInt8]] {
        names.sorted { $0.lexicographicallyPrecedes($1) }
    }

    /// Adds rows of things that cannot be asked.
    public mutating func add(_ rows: [FleetRow]) {
        answer.rows += rows
        let sum = answer.total.addingReportingOverflow(rows.count)
        answer.total = sum.overflow ? Int.max : sum.partialValue
    }

    /// Appends a JSON array of the rows.
    public func appendRows(to text: inout [UInt8]) {
        let figures = question.kind.figures
        text.append(arrayOf: answer.rows) { $1.append(to: &$0, figures) }
    }
}

/// The questions that wait for answers, and the parts that have answered.
///
/// Pure: time is a parameter, monotonic milliseconds.
struct FleetGathering {
    typealias Completion = (FleetResult) -> Void

    /// A question that waits no longer.
    ///
    /// ``complete()`` is called outside of any access to the gathering: the callers may ask again at once.
    struct Finished {
        let result: FleetResult
        fileprivate let completions: [Completion]

        func complete() {
            for completion in completions { completion(result) }
        }
    }

    /// The parts that a question waits for: the shards of one node, or nodes.
    enum Parts {
        case shards(Range<Int>)
        case nodes([[UInt8]])

        fileprivate var all: Set<FleetPart> {
            switch self {
            case .shards(let shards): Set(shards.map { .shard($0) })
            case .nodes(let nodes): Set(nodes.map { .node($0) })
            }
        }

        fileprivate var areNodes: Bool { if case .nodes = self { true } else { false } }
    }

    private struct Open {
        let question: FleetQuestion
        var waiting: Set<FleetPart>
        var sum: FleetSum
        var result: FleetResult
        let rowsMax: Int
        let isOfNodes: Bool
        let deadlineMs: Int
        var completions: [Completion]

        mutating func take(_ answer: Result<FleetAnswer, FleetFault>, of part: FleetPart) {
            switch answer {
            case .success(let answer):
                sum.add(answer)
                if let fault = answer.fault { miss(part, fault) }
                if answer.isTruncated, case .node(let name) = part { result.cut.insert(name) }
            case .failure(let fault): miss(part, fault)
            }
        }

        mutating func miss(_ part: FleetPart, _ fault: FleetFault) {
            if case .node(let name) = part { result.missing[name] = fault } else { result.answer.fault = fault }
        }
    }

    private var open: [Int: Open] = [:]
    private var asked = 0

    /// The number of questions that wait.
    var count: Int { open.count }

    /// The earliest deadline; `nil` when nothing waits.
    var nextMs: Int? { open.values.map(\.deadlineMs).min() }

    /// Opens a question; returns its number.
    mutating func begin(
        _ question: FleetQuestion, _ parts: Parts, rowsMax: Int, deadlineMs: Int, _ completion: @escaping Completion
    ) -> Int {
        asked &+= 1
        open[asked] = Open(
            question: question, waiting: parts.all, sum: FleetSum(question, ofNodes: parts.areNodes),
            result: FleetResult(answer: FleetAnswer(), question: question), rowsMax: rowsMax,
            isOfNodes: parts.areNodes, deadlineMs: deadlineMs, completions: [completion])
        return asked
    }

    /// Lets a caller wait for a question that is asked of all nodes already; false when there is none.
    mutating func join(_ question: FleetQuestion, _ completion: @escaping Completion) -> Bool {
        guard question.isShared,
            let number = open.first(where: { $0.value.isOfNodes && $0.value.question == question })?.key
        else { return false }
        open[number]?.completions.append(completion)
        return true
    }

    /// The kind of a question that waits for this part; `nil` for any other number.
    func kind(of number: Int, awaiting part: FleetPart) -> FleetQuestion.Kind? {
        open[number].flatMap { $0.waiting.contains(part) ? $0.question.kind : nil }
    }

    /// Takes a part's answer; returns the question when it was the last part.
    mutating func answered(
        _ number: Int, by part: FleetPart, _ answer: Result<FleetAnswer, FleetFault>
    ) -> Finished? {
        guard open[number]?.waiting.remove(part) != nil else { return nil }
        // In its place: a copy of the rows would take longer the more have come.
        open[number]?.take(answer, of: part)
        return finishIfWhole(number)
    }

    /// Returns the question when it waits for no part.
    mutating func finishIfWhole(_ number: Int) -> Finished? {
        open[number]?.waiting.isEmpty == true ? finish(number) : nil
    }

    /// Ends the questions whose time is over, with the answers that have come.
    mutating func expire(nowMs: Int) -> [Finished] {
        open.filter { $0.value.deadlineMs <= nowMs }.keys.sorted().compactMap { finish($0) }
    }

    private mutating func finish(_ number: Int) -> Finished? {
        guard var question = open.removeValue(forKey: number) else { return nil }
        for part in question.waiting { question.miss(part, .silent) }
        let fault = question.result.answer.fault
        question.result.answer = question.sum.answer(rowsMax: question.rowsMax)
        question.result.answer.fault = fault
        return Finished(result: question.result, completions: question.completions)
    }
}
