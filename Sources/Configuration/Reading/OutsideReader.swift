import Core

/// Reads `services` and `webhooks` of the config file: the services that a courier asks, and its webhooks' receivers.
struct OutsideReader {
    /// The services, by name in the file's order.
    private(set) var services: [ServiceSettings] = []
    /// The receivers, in the file's order.
    private(set) var webhooks: [WebhookSettings] = []
    /// The problems.
    private(set) var problems: [SettingProblem] = []

    private let path: String

    /// The services that a courier can ask.
    static let known = ["spotify"]
    /// The most services, and the most receivers.
    static let countMax = 32
    /// The most topics, and the most events, of a receiver.
    static let patternsMax = 64
    private static let serviceFields = ["url", "token-url", "client-id", "client-secret-file", "market"]
    private static let webhookFields = ["url", "secret-file", "topics", "events", "give-up-seconds"]

    init(path: String) {
        self.path = path
    }

    private mutating func problem(_ key: String, _ message: String) {
        problems.append(SettingProblem(source: .file(path: path, key: key), message: message))
    }

    /// Calls the body for each member that is an object.
    private mutating func each(
        _ value: JSON.Value, _ key: String, _ body: (inout OutsideReader, JSON.Value, _ place: String) -> Void
    ) {
        guard value.kind == .object else {
            return problem(key, "expected an object; got " + FileReader.nameOfKind(value))
        }
        if value.members.reduce(0, { count, _ in count + 1 }) > OutsideReader.countMax {
            problem(key, "more than \(OutsideReader.countMax)")
        }
        for member in value.members {
            let place = key + "." + member.name
            guard member.kind == .object else {
                problem(place, "expected an object; got " + FileReader.nameOfKind(member))
                continue
            }
            body(&self, member, place)
        }
    }

    // MARK: Services

    /// Reads `services`.
    mutating func readServices(_ value: JSON.Value) {
        each(value, "services") { $0.service($1, $2) }
    }

    private mutating func service(_ value: JSON.Value, _ place: String) {
        guard OutsideReader.known.contains(value.name) else {
            let hint = NearestName.hint(OutsideReader.known, to: value.name)
            return problem(
                place, "a courier knows no such service" + hint + "; write one of your own (docs/courier.md)")
        }
        var service = ServiceSettings(
            name: value.name, url: "https://api.spotify.com", tokenURL: "https://accounts.spotify.com/api/token")
        for member in value.members {
            let field = place + "." + member.name
            switch member.name {
            case "url": url(member, field).map { service.url = $0 }
            case "token-url": service.tokenURL = member.kind == .null ? nil : url(member, field)
            case "client-id": text(member, field).map { service.clientID = $0 }
            case "client-secret-file": service.secretFile = text(member, field)
            case "market":
                guard let market = member.string, market.utf8.count == 2, market.utf8.allSatisfy(ASCII.isUpper) else {
                    problem(field, "expected a country of two capital letters, e.g. \"DE\"")
                    continue
                }
                service.market = market
            default: problem(field, "unknown key" + NearestName.hint(OutsideReader.serviceFields, to: member.name))
            }
        }
        if service.tokenURL != nil {
            for name in ["client-id", "client-secret-file"] where value[name] == nil {
                problem(place, "needs \"\(name)\"")
            }
        }
        services.append(service)
    }

    // MARK: Webhooks

    /// Reads `webhooks`.
    mutating func readWebhooks(_ value: JSON.Value) {
        each(value, "webhooks") { $0.webhook($1, $2) }
    }

    private mutating func webhook(_ value: JSON.Value, _ place: String) {
        guard Topic.isNamespace(Array(value.name.utf8)) else {
            return problem(place, "expected a name: a lower-case letter, then at most 31 of a-z 0-9 -")
        }
        for name in ["url", "secret-file", "topics"] where value[name] == nil {
            problem(place, "needs \"\(name)\"")
        }
        var hook = WebhookSettings(name: value.name, url: "", secretFile: "", topics: [])
        for member in value.members {
            let field = place + "." + member.name
            switch member.name {
            case "url": url(member, field).map { hook.url = $0 }
            case "secret-file": text(member, field).map { hook.secretFile = $0 }
            case "topics":
                hook.topics = patterns(member, field, OutsideReader.isTopics, "a topic, or order:* for all orders")
            case "events":
                hook.events = patterns(
                    member, field, OutsideReader.isEvents, "the name of an event, or order.* for its kin")
            case "give-up-seconds":
                guard let seconds = member.int, (10...86_400).contains(seconds) else {
                    problem(field, "expected a whole number from 10 to 86400")
                    continue
                }
                hook.giveUpSeconds = seconds
            default: problem(field, "unknown key" + NearestName.hint(OutsideReader.webhookFields, to: member.name))
            }
        }
        webhooks.append(hook)
    }

    private static func isTopics(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        return Topic(bytes) != nil || (bytes.suffix(2) == Array(":*".utf8)[...] && Topic.isNamespace(bytes.dropLast(2)))
    }

    private static func isEvents(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        return EventName(bytes.last == UInt8(ascii: "*") && bytes.count > 1 ? Array(bytes.dropLast()) : bytes) != nil
    }

    // MARK: Values

    private mutating func patterns(
        _ value: JSON.Value, _ place: String, _ isGood: (String) -> Bool, _ expected: String
    ) -> [String] {
        let texts = value.kind == .array ? value.members.map { $0.string ?? "" } : []
        guard !texts.isEmpty, texts.count <= OutsideReader.patternsMax, texts.allSatisfy(isGood) else {
            problem(place, "expected 1 to \(OutsideReader.patternsMax) strings in an array, each \(expected)")
            return []
        }
        return texts
    }

    private mutating func text(_ value: JSON.Value, _ place: String) -> String? {
        if let text = value.string, !text.isEmpty, text.utf8.count <= ValueKind.bytesMax,
            !PrintableText.hasControl(text)
        {
            return text
        }
        problem(place, "expected a text without control characters")
        return nil
    }

    private mutating func url(_ value: JSON.Value, _ place: String) -> String? {
        do throws(ValueFault) {
            guard let text = value.string else { throw ValueFault(expected: "a string") }
            return try OutsideURL.checked(text)
        } catch {
            problem(place, "expected " + error.expected)
            return nil
        }
    }
}
