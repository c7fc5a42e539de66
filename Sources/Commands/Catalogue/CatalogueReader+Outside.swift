import Core

/// The checks of commands that receive the answers of outside services.
extension CatalogueReader {
    /// Checks the answering commands of a script.
    mutating func checkOutside(_ script: Script, _ all: [CommandDescriptor]) {
        for (call, line) in zip(script.descriptor.callsOut, script.lines[.callOut]) {
            let name = call.command
            guard let answering = all.first(where: { $0.name == name }) else {
                // A command that was left out is reported with its own reason.
                if isLeftOut(name) { continue }
                problem(
                    script.descriptor.file, line,
                    "@call_out: there is no command \(name)" + NearestName.hint(all.map(\.name), to: name))
                continue
            }
            for message in CatalogueReader.faults(answering) {
                problem(script.descriptor.file, line, "@call_out: \(name) " + message)
            }
        }
    }

    /// The reasons why a command cannot receive answers; empty when it can.
    private static func faults(_ command: CommandDescriptor) -> [String] {
        var faults: [String] = []
        let open = command.rights.roles.intersection([.anonymous, .user])
        if let role = open.map(\.rawValue).sorted().first {
            faults.append("must not @allow \(role), who could answer in the courier's place; write @allow worker")
        } else if !command.rights.roles.contains(.worker) {
            faults.append("must @allow worker, by whom the courier's answer comes")
        }
        if command.isReadOnly { faults.append("must not be @readonly: an answer that changes nothing is lost") }
        let outcome = command.arguments.first { $0.wire == "outcome" }
        if case .choice(let words)? = outcome?.type, Set(words) == ["ok", "failed"], outcome?.isRequired == true {
        } else {
            faults.append("needs the line -- @arg outcome enum ok,failed")
        }
        let answer = command.arguments.first { $0.wire == "answer" }
        if case .json? = answer?.type, answer?.presence == .optional {
        } else {
            faults.append("needs a line such as -- @arg answer json 4096 8 optional")
        }
        return faults
    }
}
