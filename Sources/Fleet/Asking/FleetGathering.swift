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
    /// The names of the nodes whose answer is missing, or misses a part.
    public var unanswered: [[UInt8]]
    let question: FleetQuestion

    /// Adds rows of things that cannot be asked.
    public mutating func add(_ rows: [FleetRow]) {
        answer.rows += rows
        answer.total += rows.count
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
    /// Its callers are told by ``tell()``, outside of any access to the gathering: they may ask again at once.
    struct Finished {
        let result: FleetResult
        fileprivate let completions: [Completion]

        func tell() {
            for completion in completions { completion(result) }
        }
    }

    private struct Open {
        let question: FleetQuestion
        var waiting: Set<FleetPart>
        var missing: [[UInt8]] = []
        var sum: FleetSum
        let rowsMax: Int
        /// Whether further callers may wait for it.
        let isShared: Bool
        let deadlineMs: Int
        var completions: [Completion]
    }

    private let own: [UInt8]
    private var open: [Int: Open] = [:]
    private var asked = 0

    /// Gathers for the node `own`.
    init(own: [UInt8]) {
        self.own = own
    }

    /// The number of questions that wait.
    var count: Int { open.count }

    /// The earliest deadline; `nil` when nothing waits.
    var nextMs: Int? { open.values.map(\.deadlineMs).min() }

    /// Opens a question; returns its number.
    ///
    /// `isShared`: callers that ask the same may wait for it, see ``join(_:_:)``.
    mutating func begin(
        _ question: FleetQuestion, _ parts: Set<FleetPart>, rowsMax: Int, isShared: Bool, deadlineMs: Int,
        _ completion: @escaping Completion
    ) -> Int {
        asked &+= 1
        open[asked] = Open(
            question: question, waiting: parts, sum: FleetSum(question), rowsMax: rowsMax, isShared: isShared,
            deadlineMs: deadlineMs, completions: [completion])
        return asked
    }

    /// Lets a caller wait for a question that is asked already; false when there is none.
    mutating func join(_ question: FleetQuestion, _ completion: @escaping Completion) -> Bool {
        guard let number = open.first(where: { $0.value.isShared && $0.value.question == question })?.key else {
            return false
        }
        open[number]?.completions.append(completion)
        return true
    }

    /// The kind of a question that waits for this part; `nil` for any other number.
    func kind(of number: Int, awaiting part: FleetPart) -> FleetQuestion.Kind? {
        open[number].flatMap { $0.waiting.contains(part) ? $0.question.kind : nil }
    }

    /// Takes a part's answer, where `nil` means that it has none; returns the question when it was the last part.
    mutating func answered(_ number: Int, by part: FleetPart, _ answer: FleetAnswer?) -> Finished? {
        guard var question = open[number], question.waiting.remove(part) != nil else { return nil }
        if let answer {
            question.sum.add(answer)
            if answer.isPartial { question.missing.append(name(part)) }
        } else {
            question.missing.append(name(part))
        }
        open[number] = question
        return question.waiting.isEmpty ? finish(number) : nil
    }

    /// Ends the questions whose time is over, with the answers that have come.
    mutating func expire(nowMs: Int) -> [Finished] {
        open.filter { $0.value.deadlineMs <= nowMs }.keys.sorted().compactMap { finish($0) }
    }

    private func name(_ part: FleetPart) -> [UInt8] {
        if case .node(let name) = part { name } else { own }
    }

    private mutating func finish(_ number: Int) -> Finished? {
        guard var question = open.removeValue(forKey: number) else { return nil }
        question.missing += question.waiting.map(name)
        let answer = question.sum.answer(rowsMax: question.rowsMax, isPartial: !question.missing.isEmpty)
        let unanswered = Set(question.missing).sorted { $0.lexicographicallyPrecedes($1) }
        return Finished(
            result: FleetResult(answer: answer, unanswered: unanswered, question: question.question),
            completions: question.completions)
    }
}
