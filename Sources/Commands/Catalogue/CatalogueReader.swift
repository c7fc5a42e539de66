import Core
import HTTPCodec

/// Reads the headers of all files and checks them against each other.
struct CatalogueReader {
    /// A command or refresh, with the lines that its problems name.
    struct Script {
        var descriptor: CommandDescriptor
        let lines: TagLines
        let isEmbedded: Bool
    }

    private(set) var scripts: [Script] = []
    private(set) var states: [String: StateProvider] = [:]
    private(set) var plain: [ScriptFile] = []
    /// The weights of the plain scripts in microseconds, by file name; only those that a header declares.
    private(set) var plainWeights: [String: Int] = [:]
    private(set) var disabled: [DisabledScript] = []
    private(set) var types = TypeTable()
    private(set) var problems: [ScriptProblem] = []

    /// The parts by name; a pack has at most one of a name.
    private var parts: [String: [ScriptFile]] = [:]
    /// The parts that states include, by namespace, with the lines of their `@include`.
    private var stateIncludes: [(namespace: String, part: String, line: Int)] = []
    /// The reasons why commands and refreshes were left out, by their names in the registry.
    private var leftOut: [String: String] = [:]
    private let namespaces: Set<String>
    private let reserved: [[String]]

    init(namespaces: Set<String>, reserved: [String]) {
        self.namespaces = namespaces
        self.reserved = reserved.map { path in path.split(separator: "/").map { String($0) } }
    }

    mutating func problem(_ file: ScriptFile, _ line: Int, _ message: String) {
        problems.append(ScriptProblem(file: file.path, line: line, message: message))
    }

    // MARK: One file

    mutating func read(_ file: ScriptFile, isEmbedded: Bool) {
        let known = problems.count
        let header = ScriptHeader(file, problems: &problems)
        types.add(header, &problems)
        switch header.kind {
        case .plain where isEmbedded && (file.pack.isEmpty || file.pack == ScriptFile.corePack):
            plain.append(file)
            plainWeights[file.name] = CatalogueReader.weight(header)
        case .plain:
            guard problems.count == known else { return }
            problem(file, 1, "the header has no @command, @refresh, @state, @subscribe or @part")
        case .part:
            guard problems.count == known else { return }
            readPart(header)
        case .state, .subscribe:
            readState(header, isEmbedded)
        case .command, .refresh:
            let reader = DescriptorReader(header)
            // Problems that only follow from an unreadable tag are not reported.
            guard problems.count == known else { return }
            problems += reader.problems
            guard reader.problems.isEmpty else { return }
            scripts.append(
                Script(descriptor: reader.descriptor, lines: reader.lines, isEmbedded: isEmbedded))
        }
    }

    private mutating func readState(_ header: ScriptHeader, _ isEmbedded: Bool) {
        var namespace: (name: String, line: Int)?
        var keys: [KeyDeclaration] = []
        var includes: [(part: String, line: Int)] = []
        var errors: [DeclaredError] = []
        var value: (declared: DeclaredValue, line: Int)?
        let isPersonal = header.kind == .subscribe
        for tag in header.tags {
            switch tag.value {
            case .state(let name), .subscribe(let name): namespace = (name, tag.line)
            case .key(let key):
                keys.append(key)
                if key.template.variable != "id"
                    || !(key.template.memberVariable.map { isPersonal && $0 == "user" } ?? true)
                {
                    problem(
                        header.file, tag.line,
                        isPersonal
                            ? "@key: the keys of @subscribe are those of {id}, and {user} may stand behind the second #"
                            : "@key: the one variable of a state's keys is {id}")
                }
                if key.template.isLog {
                    problem(header.file, tag.line, "@key: #log is written by the gateway itself; choose another facet")
                }
            case .errors(let list): errors = list
            case .returns(let declared): value = (declared, tag.line)
            case .include(let part):
                if includes.contains(where: { $0.part == part }) {
                    problem(header.file, tag.line, "@include: \(part) is included twice")
                }
                includes.append((part, tag.line))
            default: break
            }
        }
        guard let (name, line) = namespace else { return }
        guard namespaces.contains(name) else {
            let reason = "namespace \(name) is not configured"
            if isEmbedded {
                disabled.append(DisabledScript(name: header.file.name, reason: reason))
            } else {
                problem(
                    header.file, line,
                    "@\(header.kind.rawValue): " + reason + NearestName.hint(namespaces.sorted(), to: name))
            }
            return
        }
        if let other = states[name] {
            return problem(
                header.file, line, "@\(header.kind.rawValue): \(other.file.path) provides the state of \(name)")
        }
        let weight = CatalogueReader.weight(header)
        states[name] = StateProvider(
            namespace: name, file: header.file, keys: keys, weightMicroseconds: weight ?? ScriptWeight.assumed,
            isWeightDeclared: weight != nil, isPersonal: isPersonal, errors: errors,
            value: value?.declared ?? .unknown, valueLine: value?.line ?? 1)
        stateIncludes += includes.map { (name, $0.part, $0.line) }
    }

    /// The weight that a header declares, in microseconds; `nil` when it declares none.
    private static func weight(_ header: ScriptHeader) -> Int? {
        for tag in header.tags {
            if case .weight(let microseconds) = tag.value { return microseconds }
        }
        return nil
    }

    private mutating func readPart(_ header: ScriptHeader) {
        for tag in header.tags {
            guard case .part(let name) = tag.value else { continue }
            if let other = parts[name]?.first(where: { $0.pack == header.file.pack }) {
                problem(header.file, tag.line, "@part: \(name) is defined in \(other.path)")
            } else {
                parts[name, default: []].append(header.file)
            }
        }
    }

    // MARK: All together

    mutating func check() {
        findParts()
        findTypes()
        checkNames()
        checkRoutes()
        checkNamespaces()
        checkCalls()
        checkExports()
    }

    private mutating func findParts() {
        for index in scripts.indices {
            let script = scripts[index]
            for (name, line) in zip(script.descriptor.includes, script.lines[.include]) {
                if let part = part(name, script.descriptor.file, line) {
                    scripts[index].descriptor.parts.append(part)
                }
            }
        }
        for (namespace, name, line) in stateIncludes {
            guard let file = states[namespace]?.file, let part = part(name, file, line) else { continue }
            states[namespace]?.parts.append(part)
        }
    }

    /// Settles the types that headers name.
    private mutating func findTypes() {
        types.settle(&problems)
        for index in scripts.indices {
            let (script, lines) = (scripts[index].descriptor, scripts[index].lines)
            if script.refresh == nil { types.check(script, &problems) }
            scripts[index].descriptor.returns.type = types.settled(
                script.returns.type, script.file, lines.line(of: .returns), .returns, &problems)
            for (place, line) in zip(script.emits.indices, lines[.emits]) {
                scripts[index].descriptor.emits[place].data.type = types.settled(
                    script.emits[place].data.type, script.file, line, .emits, &problems)
            }
        }
        for (namespace, state) in states {
            states[namespace]?.value.type = types.settled(
                state.value.type, state.file, state.valueLine, .returns, &problems)
        }
    }

    /// The part that a file includes by a name; reports a problem and returns `nil` when there is none.
    ///
    /// A part of the file's own pack comes before one of the gateway, and both come before any other pack's.
    private mutating func part(_ name: String, _ file: ScriptFile, _ line: Int) -> ScriptFile? {
        let named = parts[name] ?? []
        let near = named.first { $0.pack == file.pack } ?? named.first { $0.pack == ScriptFile.corePack }
        if let part = near ?? named.first {
            guard near == nil, let other = named.dropFirst().first else { return part }
            problem(file, line, "@include: both \(part.path) and \(other.path) are a part \(name)")
            return nil
        }
        problem(file, line, "@include: there is no part \(name)" + NearestName.hint(parts.keys.sorted(), to: name))
        return nil
    }

    /// Checks that each export has a folder name of its own: the exports of a user's data are members of one object.
    private mutating func checkExports() {
        var first: [String: ScriptFile] = [:]
        for script in scripts where script.descriptor.exports {
            let (name, file) = (script.descriptor.exportName, script.descriptor.file)
            if let other = first[name] {
                problem(
                    file, script.lines.line(of: .erases, .exports),
                    "@exports: \(other.path) tells the member \(name) of a user's data; let one script tell both, or "
                        + "put this one into a folder of another name")
            } else {
                first[name] = file
            }
        }
    }

    private mutating func checkNames() {
        var first: [String: Script] = [:]
        for script in scripts {
            let name = script.descriptor.scriptName
            guard let other = first[name] else {
                first[name] = script
                continue
            }
            let what = script.descriptor.refresh == nil ? "@command" : "@refresh"
            var sentence = "\(what): \(script.descriptor.name) is defined in \(other.descriptor.file.path)"
            if other.isEmbedded && !script.isEmbedded {
                sentence += ", and no script of your own may replace it"
                let pack = other.descriptor.file.pack
                if !pack.isEmpty && pack != ScriptFile.corePack {
                    sentence += "; take another name, or leave the pack \(pack) out of --packs"
                }
            }
            problem(script.descriptor.file, script.lines.line(of: .command), sentence)
        }
    }

    private mutating func checkRoutes() {
        var first: [String: (path: String, line: Int)] = [:]
        for script in scripts {
            for (route, line) in zip(script.descriptor.routes, script.lines[.http]) {
                if let own = reserved.first(where: { !$0.isEmpty && route.path.mayBegin(with: $0) }) {
                    problem(
                        script.descriptor.file, line,
                        "@http: \(route.path) lies under the gateway's own /" + own.joined(separator: "/"))
                } else if let own = GatewayRoutes.path(sameAs: route) {
                    problem(
                        script.descriptor.file, line, "@http: \(route.path) could be meant by the gateway's own \(own)")
                }
                let shape = route.method.rawValue + " " + route.path.shape
                if let other = first[shape] {
                    problem(
                        script.descriptor.file, line, "@http: \(route) is the same as on \(other.path):\(other.line)")
                } else {
                    first[shape] = (script.descriptor.file.path, line)
                }
            }
        }
    }

    /// Leaves out embedded scripts whose topics belong to namespaces that the operator has not configured.
    private mutating func checkNamespaces() {
        for script in scripts {
            let descriptor = script.descriptor
            for (topic, line) in zip(descriptor.topics, script.lines[.topic])
            where !namespaces.contains(topic.namespace) {
                let reason = "namespace \(topic.namespace) is not configured"
                if script.isEmbedded {
                    leaveOut(descriptor.scriptName, reason)
                } else {
                    let hint = NearestName.hint(namespaces.sorted(), to: topic.namespace)
                    let mend = "; write it into \"namespaces\" of pack.json or of the config file"
                    problem(descriptor.file, line, "@topic: " + reason + (hint.isEmpty ? mend : hint))
                }
            }
        }
    }

    /// Checks the commands that scripts call, and leaves out embedded scripts that call a script left out.
    private mutating func checkCalls() {
        let all = scripts.map(\.descriptor).filter { $0.refresh == nil }
        var isSettled = false
        // Each round leaves out at least one script, or is the last.
        while !isSettled {
            isSettled = true
            for script in scripts {
                let descriptor = script.descriptor
                for name in [descriptor.calls, descriptor.steps, descriptor.callsOut.map(\.command)].joined() {
                    guard leftOut["command/" + name] != nil, script.isEmbedded else { continue }
                    if leaveOut(script.descriptor.scriptName, "it calls \(name), which is left out") {
                        isSettled = false
                    }
                }
            }
        }
        for script in scripts {
            for name in script.descriptor.calls { check(.calls, name, script, all) }
            for name in script.descriptor.steps { check(.steps, name, script, all) }
            checkOutside(script, all)
        }
    }

    /// Whether the configuration left out a command; then an embedded script that needs it is left out as well.
    func isLeftOut(_ command: String) -> Bool { leftOut["command/" + command] != nil }

    private mutating func check(_ tag: ScriptTag, _ name: String, _ script: Script, _ all: [CommandDescriptor]) {
        let (file, line, tag) = (script.descriptor.file, script.lines.line(of: tag), "@" + tag.rawValue)
        if let reason = leftOut["command/" + name] {
            problem(file, line, "\(tag): \(name) is left out: \(reason)")
        } else if let called = all.first(where: { $0.name == name }) {
            if !called.rights.roles.contains(.worker) {
                problem(file, line, "\(tag): \(name) must @allow worker")
            }
            if tag == "@steps" && !called.isIdempotent {
                problem(file, line, "@steps: \(name) must be @idempotent, since a step may be done twice")
            }
        } else {
            problem(file, line, "\(tag): there is no command \(name)" + NearestName.hint(all.map(\.name), to: name))
        }
    }

    /// Moves a script to those left out; `false` when no embedded script of that name is left.
    @discardableResult
    private mutating func leaveOut(_ scriptName: String, _ reason: String) -> Bool {
        guard let index = scripts.firstIndex(where: { $0.descriptor.scriptName == scriptName && $0.isEmbedded }) else {
            return false
        }
        leftOut[scriptName] = reason
        disabled.append(DisabledScript(name: scripts[index].descriptor.name, reason: reason))
        scripts.remove(at: index)
        return true
    }
}
