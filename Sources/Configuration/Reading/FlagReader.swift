import Core

/// Reads the words after the command into settings and operands.
///
/// Forms: `--name value`, `--name=value`, and `--name` alone for `true`. A lone `--` ends the flags. The values of
/// unknown flags are skipped and never shown: they may be secrets for a flag whose name was mistyped.
struct FlagReader {
    private let command: CommandName
    private let known: [Setting]
    private var values: [String: [String]] = [:]
    /// Words that are neither flags nor values of flags.
    private(set) var operands: [String] = []
    /// Whether the operands may include the value of an unknown flag, so that they must be neither checked nor shown.
    private(set) var operandsUncertain = false
    /// The problems.
    private(set) var problems: [SettingProblem] = []

    init(command: CommandName, words: ArraySlice<String>) {
        self.command = command
        self.known = Setting.of(command).filter { $0.places.contains(.flag) }
        read(words)
    }

    /// The given settings, in table order.
    var given: [GivenSetting] {
        known.compactMap { setting in
            values[setting.name].map { GivenSetting(setting: setting, texts: $0, source: .flag(setting.name)) }
        }
    }

    private mutating func read(_ words: ArraySlice<String>) {
        var rest = words
        while let word = rest.popFirst() {
            if word == "--" {
                operands.append(contentsOf: rest)
                return
            }
            if word.hasPrefix("--") {
                flag(word.dropFirst(2), rest: &rest)
            } else if word.hasPrefix("-") && word != "-" {
                let name = word.dropFirst().prefix { $0 != "=" }
                let hint = NearestName.hint(known.map(\.name), to: String(name), prefix: "--")
                problem("-" + PrintableText.clean(String(name)), "flags begin with two dashes" + hint)
            } else {
                operands.append(word)
            }
        }
    }

    private mutating func flag(_ text: Substring, rest: inout ArraySlice<String>) {
        let name = String(text.prefix { $0 != "=" })
        let written = name.utf8.count < text.utf8.count ? String(text.dropFirst(name.count + 1)) : nil
        guard let setting = known.first(where: { $0.name == name }) else {
            problems.append(SettingProblem(source: .flag(name), message: unknown(name)))
            if written == nil { dropValue(&rest) }
            return
        }
        let value: String
        if let written {
            value = written
        } else if setting.kind == .boolean {
            value = "true"
            if let next = rest.first, next == "true" || next == "false" {
                problems.append(SettingProblem(source: .flag(name), message: "write --\(name)=\(next)"))
                rest.removeFirst()
            }
        } else if let next = rest.first, !next.hasPrefix("--") {
            value = next
            rest.removeFirst()
        } else {
            problems.append(
                SettingProblem(source: .flag(name), message: "needs a value: --\(name) \(setting.kind.placeholder)"))
            return
        }
        if values[name] != nil && !setting.repeatable {
            problems.append(SettingProblem(source: .flag(name), message: "given twice; it takes one value"))
            return
        }
        values[name, default: []].append(value)
    }

    private func unknown(_ name: String) -> String {
        if let other = Setting.named(name) {
            guard other.places.contains(.flag) else {
                return "there is no such flag; set \"\(other.fileKey)\" in the config file"
            }
            let owners = other.commands.map(\.rawValue).joined(separator: ", ")
            return "not a flag of \(command.rawValue); it belongs to \(owners)"
        }
        if name.hasPrefix("no-"), known.contains(where: { $0.kind == .boolean && $0.name == name.dropFirst(3) }) {
            return "unknown flag; did you mean --\(name.dropFirst(3))=false?"
        }
        let hint = NearestName.hint(known.map(\.name), to: name, prefix: "--")
        return "unknown flag" + (hint.isEmpty ? "; `switchboard help \(command.rawValue)` lists them all" : hint)
    }

    /// Drops the word after an unknown flag when it looks like the flag's value.
    ///
    /// In a command with operands the word could be one of them, so it is kept there and marked as uncertain.
    private mutating func dropValue(_ rest: inout ArraySlice<String>) {
        guard let next = rest.first, !next.hasPrefix("-") else { return }
        if command.operands.isEmpty {
            rest.removeFirst()
        } else {
            operandsUncertain = true
        }
    }

    private mutating func problem(_ source: String, _ message: String) {
        problems.append(SettingProblem(source: .command(command.rawValue), message: source + ": " + message))
    }
}
