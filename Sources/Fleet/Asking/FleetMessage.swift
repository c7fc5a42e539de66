import Core

/// A message between two nodes: a question, an answer to one, or the cause for which there is none.
///
/// Pure. Its text is a line with words, and behind it JSON.
enum FleetMessage: Equatable, Sendable {
    /// Asks the node; `wallMs` is the time of all nodes.
    case question(FleetQuestion, number: Int, wallMs: Int)
    /// Answers the question of that number, with the text of a ``FleetAnswer``.
    case answer([UInt8], number: Int)
    /// Refuses to answer the question of that number.
    case refusal(FleetFault, number: Int)

    private static let jsonLimits = JSON.Limits(depthMax: 2, elementsMax: 64)

    var text: [UInt8] {
        switch self {
        case .question(let question, let number, let wallMs):
            var text = Array("ask \(number) \(wallMs) \(question.kind.rawValue) ".utf8)
            text += Array("\(question.order) \(question.limit)\n{".utf8)
            for parameter in FleetQuestion.Parameter.allCases {
                guard let value = question.parameters[parameter] else { continue }
                if text.last != UInt8(ascii: "{") { text.append(UInt8(ascii: ",")) }
                text.append(jsonString: parameter.rawValue)
                text.append(UInt8(ascii: ":"))
                text.append(jsonString: value)
            }
            text.append(UInt8(ascii: "}"))
            return text
        case .answer(let answer, let number): return Array("answer \(number)\n".utf8) + answer
        case .refusal(let fault, let number): return Array("refuse \(number) \(fault.rawValue)\n".utf8)
        }
    }

    /// Reads ``text``; `nil` for any other text.
    init?(_ text: [UInt8]) {
        guard let end = text.prefix(128 + 1).firstIndex(of: UInt8(ascii: "\n")) else { return nil }
        let words = text[..<end].split(separator: UInt8(ascii: " ")).map { String(decoding: $0, as: UTF8.self) }
        let body = Array(text[(end + 1)...])
        guard words.count > 1, let number = ASCII.decimal(words[1].utf8) else { return nil }
        switch words[0] {
        case "refuse" where words.count == 3:
            guard let fault = FleetFault(rawValue: words[2]) else { return nil }
            self = .refusal(fault, number: number)
        case "answer" where words.count == 2: self = .answer(body, number: number)
        case "ask" where words.count == 6:
            guard let wallMs = ASCII.decimal(words[2].utf8), let kind = FleetQuestion.Kind(rawValue: words[3]),
                let order = ASCII.decimal(words[4].utf8), let limit = ASCII.decimal(words[5].utf8),
                FleetQuestion.limits.contains(limit), order < max(1, kind.figures.count),
                let parameters = FleetMessage.parameters(body)
            else { return nil }
            self = .question(
                FleetQuestion(kind, parameters, order: order, limit: limit), number: number, wallMs: wallMs)
        default: return nil
        }
    }

    /// The number of a question that this version cannot read; `nil` for any other text.
    static func number(ofQuestion text: [UInt8]) -> Int? {
        let words = text.prefix(128).prefix { $0 != UInt8(ascii: "\n") }.split(separator: UInt8(ascii: " "))
        guard words.count > 1, words[0].elementsEqual("ask".utf8) else { return nil }
        return ASCII.decimal(words[1])
    }

    private static func parameters(_ body: [UInt8]) -> [FleetQuestion.Parameter: [UInt8]]? {
        guard let document = try? JSON(parsing: body, limits: jsonLimits), document.root.kind == .object else {
            return nil
        }
        var parameters: [FleetQuestion.Parameter: [UInt8]] = [:]
        for member in document.root.members {
            guard let name = FleetQuestion.Parameter(rawValue: member.name), let value = member.stringBytes,
                value.count <= FleetQuestion.parameterBytesMax
            else { return nil }
            parameters[name] = value
        }
        return parameters
    }
}
