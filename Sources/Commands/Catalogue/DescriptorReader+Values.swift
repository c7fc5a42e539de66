import Core

/// The checks of names: arguments, and the values that the gateway adds to them.
extension DescriptorReader {
    /// The names of derived and resolved values.
    var madeNames: [String] { descriptor.derived.map(\.name) + descriptor.resolved.map(\.name) }

    /// Whether a template may use the name.
    func isKnown(_ name: String) -> Bool {
        descriptor.arguments.contains { $0.name == name } || madeNames.contains(name)
    }

    /// Checks that a name means one argument everywhere, in a message and in a template.
    mutating func checkWireNames() {
        for (index, argument) in descriptor.arguments.enumerated() where argument.wire != argument.name {
            let others = descriptor.arguments.enumerated().filter { $0.offset != index }.map(\.element)
            if others.contains(where: { $0.name == argument.wire }) || madeNames.contains(argument.wire) {
                problem(lines[.arg][index], "@arg: another value is called \(argument.wire)")
            } else if descriptor.arguments[..<index].contains(where: { $0.wire == argument.wire }) {
                problem(lines[.arg][index], "@arg: another argument is \(argument.wire) on the wire, too")
            }
        }
    }

    /// Checks that derived values have arguments that are places on the earth and never absent.
    mutating func checkDerived() {
        var names = Set(descriptor.arguments.map(\.name))
        for (value, line) in zip(descriptor.derived, lines[.derive]) {
            if !names.insert(value.name).inserted { problem(line, "@derive: \(value.name) is declared twice") }
            guard case .geohash(let latitude, let longitude, _) = value.source else { continue }
            checkPlace(latitude, -90...90, line)
            checkPlace(longitude, -180...180, line)
        }
    }

    private mutating func checkPlace(_ name: String, _ range: ClosedRange<Double>, _ line: Int) {
        guard let argument = argument(name, line, "@derive") else { return }
        guard case .number(let given?) = argument.type, range.contains(given.lowerBound),
            range.contains(given.upperBound), argument.presence != .optional
        else {
            let bounds = "\(Int(range.lowerBound))..\(Int(range.upperBound))"
            return problem(line, "@derive: {\(name)} must be an argument number \(bounds) that is not optional")
        }
    }

    /// Checks that resolved values depend on arguments only, and that their errors match the other declarations.
    mutating func checkResolved() {
        var names = Set(descriptor.arguments.map(\.name) + descriptor.derived.map(\.name))
        let found = descriptor.resolved.map(\.name)
        for (value, line) in zip(descriptor.resolved, lines[.resolve]) {
            if !names.insert(value.name).inserted { problem(line, "@resolve: \(value.name) is declared twice") }
            for (place, name) in value.key.variables.enumerated() {
                if found.contains(name) {
                    problem(line, "@resolve: {\(name)} is resolved itself; a key is found by arguments")
                } else if place == 0 {
                    checkID(name, line, "@resolve")
                } else {
                    checkMember(name, line, "@resolve")
                }
            }
            if descriptor.mint?.topic.variable == value.name {
                problem(.mint, "{\(value.name)} is resolved; the topic of a token is named by an argument")
            }
            guard case .refused(let error, _) = value.absent else { continue }
            guard let other = descriptor.errors.first(where: { $0.code == error.code }) else {
                descriptor.errors.append(error)
                continue
            }
            if other.status != error.status {
                problem(line, "@resolve: \(other.code) has the status \(other.status) elsewhere in this header")
            }
        }
    }

    /// Checks that a script with @span needs it.
    mutating func checkSpan() {
        let variables = Set((descriptor.keys.map(\.template) + descriptor.topics).compactMap(\.variable))
        guard let span = descriptor.span else {
            if !descriptor.steps.isEmpty && descriptor.home == nil {
                problem(.steps, "a script without an id has none")
            }
            return
        }
        if variables.count < 2 { problem(.span, "all keys and topics belong to one id already; leave it out") }
        for name in [span.deciding, span.read].compactMap(\.self) where !variables.contains(name) {
            problem(.span, "no key and no topic has the id {\(name)}" + NearestName.hint(variables.sorted(), to: name))
        }
    }
}
