import Foundation
import PackagePlugin

/// Embeds every file of a target that is not Swift into the program, so that a new script or page needs no list.
///
/// The work is done by `scripts/embed.sh`, so that a build with sanitizers or for another machine has no tool of this
/// project to build first. SwiftPM's own way, `.embedInCode`, writes lists of numbers, which take the compiler fifty
/// times as long.
@main
struct EmbedFiles: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        guard let target = target as? any SourceModuleTarget else { return [] }
        var files = target.sourceFiles.map(\.url).filter { $0.pathExtension != "swift" }
            .sorted { $0.path < $1.path }
        // The pages use the client that others use, as it is shipped.
        if target.name == "WebPages" {
            files.append(context.package.directoryURL.appending(path: "clients/js/switchboard.js"))
        }
        let script = context.package.directoryURL.appending(path: "scripts/embed.sh")
        let output = context.pluginWorkDirectoryURL.appending(path: "EmbeddedFiles.swift")
        return [
            .buildCommand(
                displayName: "Embedding the files of \(target.name)", executable: URL(fileURLWithPath: "/bin/sh"),
                arguments: [script.path, output.path, target.directoryURL.path] + files.map(\.path),
                inputFiles: files + [script], outputFiles: [output])
        ]
    }
}
