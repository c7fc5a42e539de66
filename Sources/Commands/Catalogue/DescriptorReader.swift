import Core
import HTTPCodec

/// Makes a descriptor of a header, with the checks that need no other header.
struct DescriptorReader {
    var descriptor: CommandDescriptor
    private(set) var problems: [ScriptProblem] = []
    /// The lines of the declarations, for messages about them.
    let lines: TagLines

    init(_ header: ScriptHeader) {
        descriptor = CommandDescriptor(name: header.file.name, file: header.file)
        lines = TagLines(header.tags)
        if header.kind == .refresh { descriptor.refresh = CommandDescriptor.Refresh() }
        for tag in header.tags { take(tag) }
        checkNames()
        checkDerived()
        checkResolved()
        checkKeys()
        checkTopics()
        checkHome()
        checkSpan()
        checkRoutes()
        checkRoles()
        checkRates()
        checkOutside()
        if descriptor.refresh != nil { checkRefresh() }
    }

    mutating func problem(_ line: Int, _ message: String) {
        problems.append(ScriptProblem(file: descriptor.file.path, line: line, message: message))
    }

    /// Notes a problem with a tag that a header has once.
    mutating func problem(_ tag: ScriptTag, _ message: String) {
        problem(lines.line(of: tag), "@\(tag.rawValue): \(message)")
    }

    private mutating func take(_ tag: HeaderTag) {
        switch tag.value {
        case .command(let name): descriptor.name = name
        case .summary(let text): descriptor.summary = text
        case .http(let route): descriptor.routes.append(route)
        case .allow(let rights): descriptor.rights = rights
        case .arg(let argument): descriptor.arguments.append(argument)
        case .key(let key): descriptor.keys.append(key)
        case .topic(let template): descriptor.topics.append(template)
        case .calls(let names): descriptor.calls = names
        case .steps(let names): descriptor.steps = names
        case .callOut(let call): descriptor.callsOut.append(call)
        case .emits(let event): descriptor.emits.append(event)
        case .returns(let value): descriptor.returns = value
        case .errors(let errors): descriptor.errors = errors
        case .cost(let text): descriptor.cost = text
        case .weight(let microseconds):
            (descriptor.weightMicroseconds, descriptor.isWeightDeclared) = (microseconds, true)
        case .rate(let rate): descriptor.rates.append(rate)
        case .erases: descriptor.erases = true
        case .exports: descriptor.exports = true
        case .mint(let mint): descriptor.mint = mint
        case .readonly: descriptor.isReadOnly = true
        case .idempotent: descriptor.isIdempotent = true
        case .random: descriptor.usesRandom = true
        case .members: descriptor.changesMembers = true
        case .refresh(let template): descriptor.refresh?.triggers.append(template)
        case .coalesce(let milliseconds): descriptor.refresh?.coalesceMs = milliseconds
        case .heartbeat(let seconds): descriptor.heartbeatSeconds = seconds
        case .derive(let value): descriptor.derived.append(value)
        case .resolve(let value): descriptor.resolved.append(value)
        case .span(let span): descriptor.span = span
        case .include(let name):
            if descriptor.includes.contains(name) { problem(tag.line, "@include: \(name) is included twice") }
            descriptor.includes.append(name)
        case .state, .subscribe, .part, .type: break
        }
    }

    // MARK: Checks

    private mutating func checkNames() {
        var arguments: Set<String> = []
        for (argument, line) in zip(descriptor.arguments, lines[.arg])
        where !arguments.insert(argument.name).inserted {
            problem(line, "@arg: \(argument.name) is declared twice")
        }
        checkWireNames()
        let users = zip(descriptor.arguments, lines[.arg]).filter { $0.0.type == .user }
        for (_, line) in users.dropFirst() { problem(line, "@arg: a script acts for one user; this is the second") }
        var keys: Set<String> = []
        for (key, line) in zip(descriptor.keys, lines[.key]) where !keys.insert(key.name).inserted {
            problem(line, "@key: \(key.name) is declared twice")
        }
        var topics: Set<Template> = []
        for (topic, line) in zip(descriptor.topics, lines[.topic]) where !topics.insert(topic).inserted {
            problem(line, "@topic: \(topic) is given twice")
        }
        if descriptor.refresh != nil && !HeaderText.isName(descriptor.name) {
            problem(1, "a refresh is named after its file: a lower-case letter, then at most 63 of a-z 0-9 _")
        }
    }

    /// The argument of a variable; reports a problem and returns `nil` when it is not declared.
    mutating func argument(_ name: String, _ line: Int, _ tag: String) -> ArgumentDeclaration? {
        if let found = descriptor.arguments.first(where: { $0.name == name }) { return found }
        let names = descriptor.arguments.map(\.name) + (tag == "@key" ? madeNames : [])
        problem(line, "\(tag): {\(name)} is no @arg" + NearestName.hint(names, to: name))
        return nil
    }

    /// Checks that the variable of a key's or topic's id is an id and never absent.
    mutating func checkID(_ name: String, _ line: Int, _ tag: String) {
        // Derived and resolved values are always ids.
        guard !madeNames.contains(name), let argument = argument(name, line, tag) else { return }
        if argument.type != .id && argument.type != .user {
            problem(line, "\(tag): {\(name)} must be an argument of type id or user, not \(argument.type.word)")
        } else if argument.presence == .optional {
            problem(line, "\(tag): {\(name)} must not be optional")
        }
    }

    mutating func checkMember(_ name: String, _ line: Int, _ tag: String) {
        guard !madeNames.contains(name), let argument = argument(name, line, tag) else { return }
        if argument.presence == .optional { problem(line, "\(tag): {\(name)} must not be optional") }
        switch argument.type {
        case .id, .user: break
        case .string(let range) where range.lowerBound >= 1 && range.upperBound <= 256: break
        default: problem(line, "\(tag): {\(name)} must be an argument of type id, user, or string within 1..256")
        }
    }

    private mutating func checkKeys() {
        let home = descriptor.keys.first?.template.variable
        for (key, line) in zip(descriptor.keys, lines[.key]) {
            guard let variable = key.template.variable else { continue }
            checkID(variable, line, "@key")
            if let home, variable != home, descriptor.span == nil, isKnown(variable) {
                problem(
                    line,
                    "@key: all keys of a script belong to one id; the first is {\(home)}, this {\(variable)}; a script "
                        + "that needs both says why by @span")
            }
            if let member = key.template.memberVariable { checkMember(member, line, "@key") }
            if key.template.isLog && !descriptor.erases && descriptor.rights.roles != [.worker] {
                problem(
                    line,
                    "@key: #log is written by the gateway itself; choose another facet. Only a script that says @erases, "
                        + "or that the worker alone may call, may name a log, to delete it")
            }
        }
    }

    private mutating func checkTopics() {
        for (topic, line) in zip(descriptor.topics, lines[.topic]) {
            guard let variable = topic.variable else { continue }
            if !isKnown(variable) {
                let hint = NearestName.hint(descriptor.arguments.map(\.name) + madeNames, to: variable)
                problem(
                    line,
                    "@topic: {\(variable)} is no @arg; for an id that is none write \(topic.namespace):*" + hint)
            } else {
                checkID(variable, line, "@topic")
            }
        }
    }

    /// Finds the id that keys and home topics share, and the home topics among all topics.
    private mutating func checkHome() {
        let templates = descriptor.keys.map(\.template) + descriptor.topics
        let first = templates.first { $0.variable != nil }
        let isSpanning = descriptor.span != nil
        let isHome = { (topic: Template) in
            topic.variable != nil && (isSpanning || topic.variable == first?.variable)
        }
        descriptor.homeTopics = descriptor.topics.filter(isHome)
        descriptor.foreignNamespaces = Set(descriptor.topics.filter { !isHome($0) }.map(\.namespace)).sorted()
        if let first, let variable = first.variable {
            descriptor.home = CommandDescriptor.Home(namespace: first.namespace, variable: variable)
        } else if !descriptor.isReadOnly {
            problem(
                1, "a script that writes needs a @key, or a @topic with an argument: they say which id it belongs to")
        }
    }

    private mutating func checkRoutes() {
        for (index, line) in lines[.http].enumerated() {
            let route = descriptor.routes[index]
            if route.method == .get && !descriptor.isReadOnly {
                problem(line, "@http: a GET may be repeated by anyone, so the script must be @readonly")
            }
            for name in route.path.arguments {
                let given = descriptor.arguments.first { $0.wire == name }?.name ?? name
                guard let argument = argument(given, line, "@http") else { continue }
                switch argument.type {
                case .id, .user, .string, .int, .choice:
                    if !argument.isRequired { problem(line, "@http: {\(name)} must be a required argument") }
                default:
                    problem(
                        line,
                        "@http: {\(name)} must be of type id, user, string, int or enum, not \(argument.type.word)")
                }
            }
            descriptor.routes[index] = route.renamed { name in
                descriptor.arguments.first { $0.name == name }?.wire ?? name
            }
        }
    }

    private mutating func checkRoles() {
        if descriptor.isReadOnly && !(descriptor.topics.isEmpty && descriptor.calls.isEmpty) {
            let line = lines[.topic].first ?? lines.line(of: .calls)
            problem(line, "a @readonly script emits nothing and calls nothing")
        }
        if descriptor.isIdempotent && (descriptor.isReadOnly || descriptor.usesRandom) {
            problem(
                .idempotent,
                descriptor.isReadOnly
                    ? "a @readonly script needs no such word" : "no two runs with @random are alike")
        }
        if descriptor.changesMembers && (descriptor.isReadOnly || descriptor.topics.isEmpty) {
            problem(
                .members,
                descriptor.isReadOnly
                    ? "a @readonly script changes no members"
                    : "the members are those of a topic; declare it by @topic")
        }
        if descriptor.erases || descriptor.exports { checkData() }
        if let mint = descriptor.mint {
            if descriptor.isReadOnly || descriptor.isIdempotent {
                problem(.mint, "a script that signs a token is neither @readonly nor @idempotent")
            }
            if let home = descriptor.home, mint.topic.variable != home.variable {
                problem(.mint, "the token is for a topic of the script's own id, {\(home.variable)}")
            }
        }
        guard descriptor.heartbeatSeconds != nil else { return }
        if !descriptor.rights.roles.contains(.worker) { problem(.heartbeat, "the script must @allow worker") }
        if !requiresOnlyUser {
            problem(.heartbeat, "the script must have exactly one required argument, userId id")
        }
    }

    /// Checks a script that exports or erases the data of a user.
    private mutating func checkData() {
        let (line, word) = (lines.line(of: .erases, .exports), descriptor.erases ? "@erases" : "@exports")
        if !requiresOnlyUser {
            problem(line, "\(word): the script must have exactly one required argument, userId user")
        }
        if !descriptor.rights.roles.contains(.worker) { problem(line, "\(word): the script must @allow worker") }
        if descriptor.exports != descriptor.isReadOnly {
            problem(
                line,
                descriptor.exports
                    ? "@exports: the script must be @readonly" : "@erases: a @readonly script erases nothing")
        }
    }

    /// Whether the user is the one argument that callers must give.
    private var requiresOnlyUser: Bool {
        let required = descriptor.arguments.filter(\.isRequired)
        return required.count == 1 && required[0].wire == "userId" && [.user, .id].contains(required[0].type)
    }

    private mutating func checkRates() {
        var first: Set<CallRate> = []
        for (rate, line) in zip(descriptor.rates, lines[.rate]) {
            if !first.insert(rate).inserted { problem(line, "@rate: \(rate) is given twice") }
            let role = rate.payer.role
            if !descriptor.rights.roles.contains(role) {
                problem(
                    line,
                    "@rate: \(rate.payer.rawValue) is who calls as \(role.rawValue), and no \(role.rawValue) may call this"
                )
            }
        }
    }

    private mutating func checkRefresh() {
        guard let refresh = descriptor.refresh, let argument = descriptor.arguments.first else { return }
        if descriptor.arguments.count != 1 || argument.type != .id || !argument.isRequired {
            problem(lines[.arg][0], "@refresh: the script must have exactly one argument, a required id")
        }
        for (trigger, line) in zip(refresh.triggers, lines[.refresh]) {
            if trigger.variables != [argument.name] {
                problem(line, "@refresh: the one variable must be {\(argument.name)}, the script's one argument")
            }
        }
    }
}
