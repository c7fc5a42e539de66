import Commands
import Configuration
import Service

/// `switchboard types`: prints the types of commands, events and states for programs of apps.
enum TypesCommand {
    /// Prints the text of one file and nothing else.
    static func run(_ settings: TypesSettings) throws(StartProblem) -> Int32 {
        let catalogue = try ScriptLibrary(
            packs: settings.packs, directory: settings.scripts, namespaces: settings.namespaces, reservedPaths: [],
            numbers: settings.packNumbers
        ).catalogue
        let text =
            switch settings.language {
            case .typescript: TypeScriptTypes(catalogue).text
            case .swift: SwiftTypes(catalogue).text
            }
        // The terminal adds the end of the last line.
        Terminal.print(String(text.dropLast()))
        return 0
    }
}
