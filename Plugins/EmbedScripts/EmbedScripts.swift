import Foundation
import PackagePlugin

/// Turns every file of a target's packs into a part of the program: a new script is embedded because it is there.
///
/// The work is done by `scripts/embed.sh`, so that a build with sanitizers or for another machine has no tool of ours to
/// build first.
@main
struct EmbedScripts: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        guard let target = target as? any SourceModuleTarget else { return [] }
        // In a folder of the target, and not beside its Swift code.
        let files = target.sourceFiles.map(\.url).filter { $0.pathExtension != "swift" }
            .sorted { $0.path < $1.path }
        let script = context.package.directoryURL.appending(path: "scripts/embed.sh")
        let output = context.pluginWorkDirectoryURL.appending(path: "EmbeddedFiles.swift")
        return [
            .buildCommand(
                displayName: "Embedding the scripts", executable: URL(fileURLWithPath: "/bin/sh"),
                arguments: [script.path, output.path, target.directoryURL.path] + files.map(\.path),
                inputFiles: files + [script], outputFiles: [output])
        ]
    }
}
