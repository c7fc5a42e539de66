/// Assembles the texts that Redis loads: the shared files, the names of the header, the author's file.
public struct ScriptAssembler: Sendable {
    /// The files in front of plain scripts and states.
    private let plain: SharedTexts
    /// The files in front of bodies.
    private let command: SharedTexts
    private let outside: ScriptFile?
    private let elsewhere: ScriptFile?
    private let looked: ScriptFile?
    private let quick: [String: ScriptFile]
    private let subscribe: ScriptFile
    private let position: ScriptFile

    /// Takes `prelude.lua` and the files beside it.
    ///
    /// `command` is `writes.lua`, `checks.lua`, `values.lua`, `command.lua` and `run.lua`, in this order. `outside.lua`
    /// is for scripts that call outside services. `elsewhere` is for read-only scripts on a cluster,
    /// `looked` for those there that read keys of another id.
    ///
    /// `quick` holds texts by the names of plain scripts. Each stands before the prelude and answers the script's
    /// common case, which then creates none of the prelude's functions.
    public init(
        prelude: ScriptFile, command: [ScriptFile], outside: ScriptFile?, subscribe: ScriptFile, position: ScriptFile,
        quick: [String: ScriptFile], elsewhere: ScriptFile? = nil, looked: ScriptFile? = nil
    ) {
        plain = SharedTexts([prelude])
        self.command = SharedTexts([prelude] + command)
        self.outside = outside
        self.elsewhere = elsewhere
        self.looked = looked
        self.quick = quick
        self.position = position
        self.subscribe = subscribe
    }

    /// Every script of a catalogue: `command/NAME`, `refresh/NAME`, `state/NAMESPACE`, and the plain ones by file name.
    public func scripts(_ catalogue: Catalogue) -> [AssembledScript] {
        catalogue.commands.map { script($0) } + catalogue.refreshes.map { script($0) }
            + catalogue.states.values.sorted { $0.namespace < $1.namespace }.flatMap { scripts($0) }
            + catalogue.plain.map { script($0) }
    }

    /// A command or a refresh.
    public func script(_ descriptor: CommandDescriptor) -> AssembledScript {
        assembled(descriptor.scriptName, of: descriptor.file, behind: command) { text in
            if let outside, !descriptor.callsOut.isEmpty { text.append(outside.bytes, path: outside.path) }
            if let elsewhere, descriptor.isReadOnly { text.append(elsewhere.bytes, path: elsewhere.path) }
            if let looked, !descriptor.looked.isEmpty { text.append(looked.bytes, path: looked.path) }
            text.append(lines: GeneratedLua.lines(descriptor))
            text.append(lines: ["local function command()"])
            text.hide(GeneratedLua.hidden)
            for part in descriptor.parts { text.append(part.bytes, path: part.path) }
            let offset = text.lineCount
            text.append(descriptor.file.bytes, path: descriptor.file.path)
            text.append(lines: ["end", "return run(command)"])
            return offset
        }
    }

    /// The two scripts of a namespace with a state.
    ///
    /// `state/NAMESPACE` sends the state to a new subscriber. `position/NAMESPACE` answers a caller that asks for a
    /// topic's position.
    public func scripts(_ state: StateProvider) -> [AssembledScript] {
        [(state.scriptName, subscribe), (state.positionName, position)].map { (name, body) in
            assembled(name, of: state.file, behind: state.isPersonal ? command : plain) { text in
                if state.isPersonal {
                    text.append(lines: GeneratedLua.lines(state))
                    text.append(lines: ["local function command()"])
                    text.hide(GeneratedLua.hiddenFromJoins)
                }
                for part in state.parts { text.append(part.bytes, path: part.path) }
                let offset = text.lineCount
                text.append(state.file.bytes, path: state.file.path)
                if state.isPersonal {
                    // A refused subscribe must leave nothing behind, so the decision comes before the position is
                    // created.
                    text.append(lines: ["end", "local refused = decide(command)", "if refused then return refused end"])
                }
                text.append(body.bytes, path: body.path)
                return offset
            }
        }
    }

    /// A script that the gateway calls itself.
    public func script(_ plain: ScriptFile) -> AssembledScript {
        assembled(plain.name, of: plain, behind: self.plain, first: quick[plain.name]) { text in
            let offset = text.lineCount
            text.append(plain.bytes, path: plain.path)
            return offset
        }
    }

    /// Puts the shared files that a script needs before its own text.
    ///
    /// `own` appends that text, and returns how many lines stand before the author's file.
    private func assembled(
        _ name: String, of file: ScriptFile, behind shared: SharedTexts, first: ScriptFile? = nil,
        _ own: (inout ScriptText) -> Int
    ) -> AssembledScript {
        var alone = ScriptText()
        _ = own(&alone)
        var text = ScriptText()
        if let first { text.append(first.bytes, path: first.path) }
        for (path, bytes) in shared.texts(for: alone.naming) { text.append(bytes, path: path) }
        let offset = own(&text)
        return AssembledScript(
            name: name, text: text.text, parts: text.parts, bodyLineOffset: offset,
            isOfPack: !file.pack.isEmpty && file.pack != ScriptFile.corePack)
    }
}
