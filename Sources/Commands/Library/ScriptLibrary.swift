import Core
import Reactors
import Scripts
public import Service

/// The scripts of a process, read and assembled: those of the built-in packs that it serves, and those of
/// `--scripts DIR`.
///
/// Immutable and thread-safe.
public struct ScriptLibrary: Sendable {
    /// What can be called.
    public let catalogue: Catalogue
    /// What is loaded into Redis.
    public let table: ScriptTable

    /// What each built-in pack says of itself, the text of its `pack.json`, by the pack's name.
    public static var packs: [String: [UInt8]] { Scripts.packs }

    /// The most files a directory may hold.
    public static let filesMax = 1_000

    /// Reads everything; the problem names every file and line that is wrong.
    ///
    /// `packs` are the built-in ones that are served, beside what the gateway calls itself. `namespaces` are those of the
    /// configuration, `reservedPaths` the gateway's own beside those the catalogue knows.
    public init(
        packs: [String], directory: String?, namespaces: some Sequence<String>, reservedPaths: [String]
    ) throws(StartProblem) {
        let served = Set(packs + [Scripts.core])
        let embedded = Scripts.files.filter { served.contains($0.pack) }.map { ScriptFile($0) }
        let operators = try directory.map { directory throws(StartProblem) in try ScriptLibrary.read(directory) } ?? []
        do {
            catalogue = try Catalogue(
                embedded: embedded, operators: operators, namespaces: Set(namespaces), reservedPaths: reservedPaths)
        } catch {
            throw StartProblem(error.problems.map(\.description).joined(separator: "\n"))
        }
        let own = Scripts.files.filter { $0.pack == Scripts.core }
        func plain(_ name: String) -> [UInt8] { own.first { $0.name == name }?.source ?? [] }
        let assembler = ScriptAssembler(
            prelude: Scripts.prelude, command: Scripts.commandPreludes.map { ScriptFile($0) },
            subscribe: plain("subscribe"), position: plain("position"))
        do {
            table = try ScriptTable(assembler.scripts(catalogue))
        } catch {
            throw StartProblem("the scripts contradict each other: \(error)")
        }
    }

    /// Reads the `.lua` files of a directory, in the order of their names; other files are left alone.
    private static func read(_ directory: String) throws(StartProblem) -> [ScriptFile] {
        let names: [String]
        do {
            names = try Files.names(in: directory, max: filesMax)
        } catch {
            throw StartProblem.file(directory, error)
        }
        var files: [ScriptFile] = []
        for name in names where name.hasSuffix(".lua") {
            let path = directory + "/" + name
            do {
                let bytes = try Files.read(path, bytesMax: ScriptFile.bytesMax)
                files.append(ScriptFile(name: String(name.dropLast(4)), path: path, bytes: bytes))
            } catch {
                throw StartProblem.file(path, error)
            }
        }
        return files
    }
}

extension ScriptFile {
    /// An embedded file.
    init(_ file: Scripts.File) {
        self.init(name: file.name, path: file.path, bytes: file.source, pack: file.pack)
    }
}
