import Commands
import Configuration
import Core
import Gateway
import Reactors
import Service

/// The scripts of a running `dev`: reads them again when a file has changed, and says what is different.
///
/// A mistake leaves the scripts that run. Thread: main.
struct DevScripts {
    /// The settings with which the gateway goes on, and what is different for callers.
    struct Reading {
        let settings: DevSettings
        let text: String
    }

    private let directory: String
    private let reread: () -> CommandLineResult
    private var watch: DirectoryWatch
    /// Changes that were seen, and whose files may still be written.
    private var pending = DirectoryWatch.Changes()
    private var names: Set<String>
    private var lookMs = 0

    /// The time between two looks, milliseconds; a change counts once a look later nothing more has changed.
    static let everyMs = 200

    /// Watches the scripts of the settings; `nil` when there are none.
    ///
    /// `reread` reads the command line and the files that it names again.
    init?(_ settings: DevSettings, reread: @escaping () -> CommandLineResult) throws(StartProblem) {
        guard let directory = settings.gateway.scripts else { return nil }
        self.directory = directory
        self.reread = reread
        watch = DirectoryWatch(directory)
        let catalogue = try NodeParts(settings.gateway).library.catalogue
        names = DevScripts.names(catalogue, directory)
        for mistake in catalogue.bodyMistakes { Terminal.error(mistake.description) }
    }

    /// The directory and the number of its scripts, for the greeting.
    var text: String {
        let count = names.count == 1 ? "1 script" : "\(names.count) scripts"
        return "\(directory)  (\(count); read again when a file changes)"
    }

    /// Looks for changes, and reads them once they have settled; `nil` when the gateway goes on as it is.
    mutating func look(url: String, log: Log) -> Reading? {
        let nowMs = Clock.monotonicMs()
        guard nowMs >= lookMs else { return nil }
        lookMs = nowMs + DevScripts.everyMs
        let changes = watch.look()
        if !changes.isEmpty {
            pending.changed += changes.changed.filter { !pending.changed.contains($0) }
            pending.added += changes.added
            pending.removed += changes.removed
            return nil
        }
        guard !pending.isEmpty else { return nil }
        let text = pending.text
        pending = DirectoryWatch.Changes()
        return read(text, url: url, log: log)
    }

    private mutating func read(_ changes: String, url: String, log: Log) -> Reading? {
        var problems: [String]
        switch reread() {
        case .run(.dev(var settings)):
            settings.gateway.redis = url
            do {
                let parts = try NodeParts(settings.gateway)
                problems = Preflight.brokenScripts(parts, settings.gateway)
                if problems.isEmpty {
                    let catalogue = parts.library.catalogue
                    for mistake in catalogue.bodyMistakes { Terminal.error(mistake.description) }
                    return Reading(settings: settings, text: taken(changes, catalogue, log))
                }
            } catch {
                problems = error.description.split(separator: "\n").map { String($0) }
            }
        case .problems(let found): problems = found.map(\.description)
        case .run, .help, .version: return nil
        }
        for problem in problems { Terminal.error(problem) }
        Terminal.error("the scripts go on as they were (\(changes))")
        log.write(.warn, "scripts have mistakes", [("changes", changes), ("first", problems.first ?? "")])
        return nil
    }

    /// Notes and tells the scripts that are there now.
    private mutating func taken(_ changes: String, _ catalogue: Catalogue, _ log: Log) -> String {
        let now = DevScripts.names(catalogue, directory)
        let (new, gone) = (now.subtracting(names).sorted(), names.subtracting(now).sorted())
        names = now
        var text = "scripts: \(changes)"
        if !new.isEmpty { text += "; now there is " + new.joined(separator: ", ") }
        if !gone.isEmpty { text += "; there is no more " + gone.joined(separator: ", ") }
        log.write(.info, "scripts changed", [("changes", changes), ("scripts", "\(now.count)")])
        return text
    }

    /// The names of the directory's own scripts: commands, refreshes, and states by their namespaces.
    private static func names(_ catalogue: Catalogue, _ directory: String) -> Set<String> {
        func isOwn(_ file: ScriptFile) -> Bool { file.path.hasPrefix(directory + "/") }
        let states = catalogue.states.values.filter { isOwn($0.file) }.map { "the state of " + $0.namespace }
        return Set((catalogue.commands + catalogue.refreshes).filter { isOwn($0.file) }.map(\.name) + states)
    }
}
