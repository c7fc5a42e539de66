import Core
import HTTPCodec

/// Makes a descriptor of a header, with the checks that need no other header.
struct DescriptorReader {
    var descriptor: CommandDescriptor
    private(set) var problems: [ScriptProblem] = []
    /// The lines of the declarations, for messages about them.
    private(set) var lines: Lines

    /// The lines of tags that checks report problems on.
    struct Lines {
        var name = 1
        var calls = 1
        var callsOut: [Int] = []
        var heartbeat = 1
        var idempotent = 1
        var members = 1
        var mint = 1
        var data = 1
        var topics: [Int] = []
        var routes: [Int] = []
        var keys: [Int] = []
        var arguments: [Int] = []
        var triggers: [Int] = []
        var includes: [Int] = []
        var rates: [Int] = []
        var derived: [Int] = []
        var resolved: [Int] = []
        var span = 1
    }

    init(_ header: ScriptHeader) {
        descriptor = CommandDescriptor(name: header.file.name, file: header.file)
        lines = Lines()
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

    private mutating func take(_ tag: HeaderTag) {
        switch tag.value {
        case .command(let name):
            descriptor.name = name
            lines.name = tag.line
        case .summary(let text): descriptor.summary = text
        case .http(let route):
            descriptor.routes.append(route)
            lines.routes.append(tag.line)
        case .allow(let rights): descriptor.rights = rights
        case .arg(let argument):
            descriptor.arguments.append(argument)
            lines.arguments.append(tag.line)
        case .key(let key):
            descriptor.keys.append(key)
            lines.keys.append(tag.line)
        case .topic(let template):
            descriptor.topics.append(template)
            lines.topics.append(tag.line)
        case .calls(let names):
            descriptor.calls = names
            lines.calls = tag.line
        case .callOut(let call):
            descriptor.callsOut.append(call)
            lines.callsOut.append(tag.line)
        case .emits(let event): descriptor.emits.append(event)
        case .returns(let text): descriptor.returns = text
        case .errors(let errors): descriptor.errors = errors
        case .cost(let text): descriptor.cost = text
        case .weight(let microseconds):
            (descriptor.weightMicroseconds, descriptor.isWeightDeclared) = (microseconds, true)
        case .rate(let rate):
            descriptor.rates.append(rate)
            lines.rates.append(tag.line)
        case .erases, .exports:
            if tag.value == .erases { descriptor.erases = true } else { descriptor.exports = true }
            lines.data = tag.line
        case .mint(let mint):
            descriptor.mint = mint
            lines.mint = tag.line
        case .readonly: descriptor.isReadOnly = true
        case .idempotent:
            descriptor.isIdempotent = true
            lines.idempotent = tag.line
        case .random: descriptor.usesRandom = true
        case .members:
            descriptor.changesMembers = true
            lines.members = tag.line
        case .refresh(let template):
            descriptor.refresh?.triggers.append(template)
            lines.triggers.append(tag.line)
        case .coalesce(let milliseconds): descriptor.refresh?.coalesceMs = milliseconds
        case .heartbeat(let seconds):
            descriptor.heartbeatSeconds = seconds
            lines.heartbeat = tag.line
        case .derive(let value):
            descriptor.derived.append(value)
            lines.derived.append(tag.line)
        case .resolve(let value):
            descriptor.resolved.append(value)
            lines.resolved.append(tag.line)
        case .span(let reason):
            (descriptor.span, lines.span) = (reason, tag.line)
        case .include(let name):
            if descriptor.includes.contains(name) { problem(tag.line, "@include: \(name) is included twice") }
            descriptor.includes.append(name)
            lines.includes.append(tag.line)
        case .state, .subscribe, .part: break
        }
    }

    // MARK: Checks

    private mutating func checkNames() {
        var arguments: Set<String> = []
        for (argument, line) in zip(descriptor.arguments, lines.arguments)
        where !arguments.insert(argument.name).inserted {
            problem(line, "@arg: \(argument.name) is declared twice")
        }
        checkWireNames()
        let users = zip(descriptor.arguments, lines.arguments).filter { $0.0.type == .user }
        for (_, line) in users.dropFirst() { problem(line, "@arg: a script acts for one user; this is the second") }
        var keys: Set<String> = []
        for (key, line) in zip(descriptor.keys, lines.keys) where !keys.insert(key.name).inserted {
            problem(line, "@key: \(key.name) is declared twice")
        }
        var topics: Set<Template> = []
        for (topic, line) in zip(descriptor.topics, lines.topics) where !topics.insert(topic).inserted {
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
        for (key, line) in zip(descriptor.keys, lines.keys) {
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
        for (topic, line) in zip(descriptor.topics, lines.topics) {
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
        for (index, line) in lines.routes.enumerated() {
            let route = descriptor.routes[index]
            if route.method == .get && !descriptor.isReadOnly {
                problem(line, "@http: a GET may be repeated by anyone, so the script must be @readonly")
            }
            for name in route.arguments {
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
            problem(lines.topics.first ?? lines.calls, "a @readonly script emits nothing and calls nothing")
        }
        if descriptor.isIdempotent && (descriptor.isReadOnly || descriptor.usesRandom) {
            problem(
                lines.idempotent,
                descriptor.isReadOnly
                    ? "@idempotent: a @readonly script needs no such word"
                    : "@idempotent: no two runs with @random are alike")
        }
        if descriptor.changesMembers && (descriptor.isReadOnly || descriptor.topics.isEmpty) {
            problem(
                lines.members,
                descriptor.isReadOnly
                    ? "@members: a @readonly script changes no members"
                    : "@members: the members are those of a topic; declare it by @topic")
        }
        if descriptor.erases || descriptor.exports {
            let word = descriptor.erases ? "@erases" : "@exports"
            let required = descriptor.arguments.filter(\.isRequired)
            let isUser = required.first.map { $0.wire == "userId" && ($0.type == .user || $0.type == .id) } ?? false
            if required.count != 1 || !isUser {
                problem(lines.data, "\(word): the script must have exactly one required argument, userId user")
            }
            if !descriptor.rights.roles.contains(.worker) {
                problem(lines.data, "\(word): the script must @allow worker")
            }
            if descriptor.exports != descriptor.isReadOnly {
                problem(
                    lines.data,
                    descriptor.exports
                        ? "@exports: the script must be @readonly" : "@erases: a @readonly script erases nothing")
            }
        }
        if let mint = descriptor.mint {
            if descriptor.isReadOnly || descriptor.isIdempotent {
                problem(lines.mint, "@mint: a script that signs a token is neither @readonly nor @idempotent")
            }
            if let home = descriptor.home, mint.topic.variable != home.variable {
                problem(lines.mint, "@mint: the token is for a topic of the script's own id, {\(home.variable)}")
            }
        }
        guard descriptor.heartbeatSeconds != nil else { return }
        if !descriptor.rights.roles.contains(.worker) {
            problem(lines.heartbeat, "@heartbeat: the script must @allow worker")
        }
        let required = descriptor.arguments.filter(\.isRequired)
        let fits = required.first.map { $0.wire == "userId" && ($0.type == .id || $0.type == .user) } ?? false
        if required.count != 1 || !fits {
            problem(lines.heartbeat, "@heartbeat: the script must have exactly one required argument, userId id")
        }
    }

    private mutating func checkRates() {
        var first: Set<CallRate> = []
        for (rate, line) in zip(descriptor.rates, lines.rates) {
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
            problem(lines.arguments[0], "@refresh: the script must have exactly one argument, a required id")
        }
        for (trigger, line) in zip(refresh.triggers, lines.triggers) {
            if trigger.variables != [argument.name] {
                problem(line, "@refresh: the one variable must be {\(argument.name)}, the script's one argument")
            }
        }
    }
}
