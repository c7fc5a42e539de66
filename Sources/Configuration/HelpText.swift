/// The text of `help` and `--help`, made from the table.
enum HelpText {
    private static let width = 100
    private static let indent = 30

    /// The list of commands.
    static func overview() -> String {
        var text = "Switchboard is a realtime gateway: WebSockets to phones and browsers, Redis behind.\n\n"
        text += "usage: switchboard COMMAND [FLAGS]\n\n"
        for command in CommandName.allCases {
            text += row("  " + command.rawValue, command.summary, indent: 16)
        }
        return text + "\n`switchboard help COMMAND` lists the settings of a command. To begin: switchboard dev\n"
    }

    /// The settings of one command.
    static func of(_ command: CommandName) -> String {
        let settings = Setting.of(command)
        var usage = "usage: switchboard " + command.rawValue
        if !settings.isEmpty { usage += " [FLAGS]" }
        if !command.operands.isEmpty { usage += " " + command.operands }
        var text = command.summary + "\n\n" + usage + "\n"
        for section in Setting.sections {
            let own = section.settings.filter { $0.commands.contains(command) }
            if own.isEmpty { continue }
            text += "\n" + section.title + "\n"
            for setting in own { text += row("  " + name(setting), sentence(setting, command), indent: indent) }
        }
        return settings.isEmpty ? text : text + "\n" + footer
    }

    private static func name(_ setting: Setting) -> String {
        guard setting.places.contains(.flag) else { return "\"" + setting.fileKey + "\"" }
        return setting.usage
    }

    private static func sentence(_ setting: Setting, _ command: CommandName) -> String {
        var text = setting.help(of: command)
        if setting.repeatable { text += " Repeatable." }
        if setting.places == .file { text += " Config file only." }
        let standard = setting.defaultText(of: command)
        if !standard.isEmpty { text += " Default: " + standard + "." }
        return text
    }

    private static let footer = """
        A flag --some-name may also be the environment variable SWITCHBOARD_SOME_NAME (several values
        separated by commas) or the key "some-name" of the config file. Flags win over the environment,
        the environment over the file. Every setting: docs/configuration.md

        """

    /// A name, and a sentence wrapped to the right of it.
    private static func row(_ name: String, _ sentence: String, indent: Int) -> String {
        let margin = String(repeating: " ", count: indent)
        var lines: [String] = []
        var line = name.count < indent - 1 ? name + margin.dropFirst(name.count) : ""
        if line.isEmpty {
            lines.append(name)
            line = margin
        }
        var isStart = true
        for word in sentence.split(separator: " ") {
            if !isStart && line.count + 1 + word.count > width {
                lines.append(line)
                line = margin
                isStart = true
            }
            line += (isStart ? "" : " ") + word
            isStart = false
        }
        return (lines + [line]).joined(separator: "\n") + "\n"
    }
}
