/// Makes the texts that are loaded: the shared files, the names of the header, the author's file.
public struct ScriptAssembler: Sendable {
    private let prelude: [UInt8]
    private let command: [UInt8]
    private let subscribe: [UInt8]

    /// Takes the texts of `prelude.lua`, `command.lua` and `subscribe.lua`.
    public init(prelude: [UInt8], command: [UInt8], subscribe: [UInt8]) {
        self.prelude = prelude
        self.command = command
        self.subscribe = subscribe
    }

    /// Every script of a catalogue: `command/NAME`, `refresh/NAME`, `state/NAMESPACE`, and the plain ones by file name.
    public func scripts(_ catalogue: Catalogue) -> [AssembledScript] {
        catalogue.commands.map { script($0) } + catalogue.refreshes.map { script($0) }
            + catalogue.states.values.sorted { $0.namespace < $1.namespace }.map { script($0) }
            + catalogue.plain.map { script($0) }
    }

    /// A command or a refresh.
    public func script(_ descriptor: CommandDescriptor) -> AssembledScript {
        var text = ScriptText()
        text.append(prelude, path: "prelude.lua")
        text.append(command, path: "command.lua")
        text.append(lines: GeneratedLua.lines(descriptor))
        text.append(lines: ["local function command()"])
        let offset = text.lineCount
        text.append(descriptor.file.bytes, path: descriptor.file.path)
        text.append(lines: ["end", "return run(command)"])
        return AssembledScript(
            name: descriptor.scriptName, text: text.text, parts: text.parts, bodyLineOffset: offset)
    }

    /// The subscribe script of a namespace with a state.
    public func script(_ state: StateProvider) -> AssembledScript {
        var text = ScriptText()
        text.append(prelude, path: "prelude.lua")
        let offset = text.lineCount
        text.append(state.file.bytes, path: state.file.path)
        text.append(subscribe, path: "subscribe.lua")
        return AssembledScript(name: state.scriptName, text: text.text, parts: text.parts, bodyLineOffset: offset)
    }

    /// A script that the gateway calls itself.
    public func script(_ plain: ScriptFile) -> AssembledScript {
        var text = ScriptText()
        text.append(prelude, path: "prelude.lua")
        let offset = text.lineCount
        text.append(plain.bytes, path: plain.path)
        return AssembledScript(name: plain.name, text: text.text, parts: text.parts, bodyLineOffset: offset)
    }
}
