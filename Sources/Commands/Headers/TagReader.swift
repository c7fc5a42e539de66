import Core
import HTTPCodec

/// Reads the value of each tag.
enum TagReader {
    /// The names with another meaning in a client's message, beside the event names that the gateway reserves.
    private static let protocolWords: Set<String> = [
        "authenticate", "subscribe", "unsubscribe", "publish", "ping", "track", "untrack",
    ]

    static func read(_ tag: ScriptTag, _ text: String) throws(HeaderFault) -> TagValue {
        guard tag.isBare == text.isEmpty else {
            throw HeaderFault(tag.isBare ? "takes no value" : "the value is missing")
        }
        switch tag {
        case .command: return .command(try command(text))
        case .summary: return .summary(text)
        case .http: return .http(try HTTPRoute(header: text))
        case .allow: return .allow(try CommandRights(header: text))
        case .arg: return .arg(try ArgumentReader.read(text))
        case .key: return .key(try key(text))
        case .derive: return .derive(try DerivedValue(header: text))
        case .resolve: return .resolve(try ResolvedValue(header: text))
        case .span: return .span(try Span(header: text))
        case .topic: return .topic(try Template(topic: text))
        case .calls: return .calls(try calls(text))
        case .steps: return .steps(try calls(text))
        case .callOut: return .callOut(try OutsideCall(header: text))
        case .emits: return .emits(try emits(text))
        case .returns: return .returns(try DeclaredValue(header: text))
        case .errors: return .errors(try errors(text))
        case .cost: return .cost(text)
        case .weight: return .weight(microseconds: try ScriptWeight.read(text))
        case .rate: return .rate(try CallRate(header: text))
        case .readonly: return .readonly
        case .idempotent: return .idempotent
        case .random: return .random
        case .members: return .members
        case .erases: return .erases
        case .exports: return .exports
        case .mint: return .mint(try MintDeclaration(header: text))
        case .refresh: return .refresh(try Template(key: text))
        case .coalesce: return .coalesce(milliseconds: try number(text, unit: "ms", 1...60_000))
        case .heartbeat: return .heartbeat(seconds: try number(text, unit: "s", 5...3_600))
        case .state: return .state(try state(text))
        case .subscribe: return .subscribe(try state(text))
        case .part: return .part(try part(text))
        case .include: return .include(try part(text))
        case .type: return .type(try NamedType(header: text))
        }
    }

    private static func command(_ text: String) throws(HeaderFault) -> String {
        guard HeaderText.isName(text) else {
            throw HeaderFault("a name is a lower-case letter, then at most 63 of a-z 0-9 _")
        }
        guard !protocolWords.contains(text), EventName(text)?.isOwnWord != true else {
            throw HeaderFault("\(text) is a word of the protocol; choose another name")
        }
        return text
    }

    private static func key(_ text: String) throws(HeaderFault) -> KeyDeclaration {
        let words = HeaderText.words(text)
        guard words.count == 2 else {
            throw HeaderFault("expected a name and a template, e.g. tracks dj:{shopId}#tracks")
        }
        guard HeaderText.isName(words[0]), !HeaderText.luaWords.contains(words[0]) else {
            throw HeaderFault("a key's name is a lower-case letter, then at most 63 of a-z 0-9 _, and no word of Lua")
        }
        return KeyDeclaration(name: words[0], template: try Template(key: words[1], orLog: true))
    }

    private static func calls(_ text: String) throws(HeaderFault) -> [String] {
        var names: [String] = []
        for name in HeaderText.list(text) {
            guard HeaderText.isName(name) else {
                throw HeaderFault(PrintableText.quoted(name) + " is no name of a command")
            }
            guard !names.contains(name) else { throw HeaderFault("\(name) is given twice") }
            names.append(name)
        }
        return names
    }

    private static func emits(_ text: String) throws(HeaderFault) -> EmittedEvent {
        let name = String(text.prefix { $0 != " " && $0 != "\n" })
        guard let event = EventName(name), !event.isReserved else {
            throw HeaderFault(
                "an event's name is 1 to \(EventName.bytesMax) of A-Z a-z 0-9 . _ : / -, and no word of the gateway")
        }
        let data = text.dropFirst(name.count)
        guard data.contains(where: { $0 != " " && $0 != "\n" }) else {
            throw HeaderFault("expected an event and the type of its data, e.g. queue:update {trackId: string}")
        }
        let value = try DeclaredValue(header: String(data))
        switch value.type {
        case .object, .named, .union: return EmittedEvent(name: name, data: value)
        default: throw HeaderFault("the data of an event are an object, e.g. queue:update {trackId: string}")
        }
    }

    private static func errors(_ text: String) throws(HeaderFault) -> [DeclaredError] {
        var errors: [DeclaredError] = []
        for item in HeaderText.list(text) {
            let error = try DeclaredError(header: item)
            guard !errors.contains(where: { $0.code == error.code }) else {
                throw HeaderFault("\(error.code) is given twice")
            }
            errors.append(error)
        }
        return errors
    }

    private static func number(
        _ text: String, unit: String, _ range: ClosedRange<Int>
    ) throws(HeaderFault) -> Int {
        let words = HeaderText.words(text)
        guard words.count == 2, words[1] == unit, let number = ASCII.decimal(Array(words[0].utf8)),
            range.contains(number)
        else { throw HeaderFault("expected \(range.lowerBound) to \(range.upperBound) and the unit, e.g. 20 \(unit)") }
        return number
    }

    private static func part(_ text: String) throws(HeaderFault) -> String {
        guard HeaderText.isName(text) else {
            throw HeaderFault("a part's name is a lower-case letter, then at most 63 of a-z 0-9 _")
        }
        return text
    }

    private static func state(_ text: String) throws(HeaderFault) -> String {
        guard Topic.isNamespace(Array(text.utf8)) else {
            throw HeaderFault("a namespace is a lower-case letter, then at most 31 of a-z 0-9 -")
        }
        return text
    }
}
