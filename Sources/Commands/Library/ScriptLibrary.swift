import Core
import Reactors
import Scripts
public import Service

/// The scripts of a process, read and assembled: those of its served built-in packs, and those of `--scripts DIR`.
///
/// Immutable and thread-safe.
public struct ScriptLibrary: Sendable {
    /// The commands and refreshes that can be called, with their routes.
    public let catalogue: Catalogue
    /// The forms of refusals on the packs' routes, the longest prefix first.
    public let routeErrors: [RouteErrors]
    /// The data that stay after a user's erasure: the gateway's own, then those of the packs in their order.
    public let keeps: [Kept]
    /// The names by which the packs keep blocks between users.
    public let blocks: BlockNames
    /// The scripts that links load into Redis.
    public let table: ScriptTable

    /// The text of each built-in pack's `pack.json`, by the pack's name.
    public static var packs: [String: [UInt8]] { Scripts.packs }

    /// The most files a directory may hold with its folders.
    public static let filesMax = 1_000

    /// Reads everything; the problem names every file and line with a mistake.
    ///
    /// `packs` are the built-in packs to serve, beside the scripts that the gateway calls itself. `namespaces` are
    /// those of the configuration. `reservedPaths` are the gateway's paths beyond those that the catalogue knows.
    /// `numbers` are the shared numbers that the operator chooses, `PACK.NAME=NUMBER` each. `isSharded`: the keys of a
    /// script lie in one slot, and topics' channels are sharded. `hasOwnTime`: the calls' time is not that of Redis, as in
    /// tests of packs.
    public init(
        packs: [String], directory: String?, namespaces: some Sequence<String>, reservedPaths: [String],
        numbers: [String] = [], isSharded: Bool = false, hasOwnTime: Bool = false
    ) throws(StartProblem) {
        let texts = try ScriptLibrary.texts(packs, directory)
        routeErrors = try ScriptLibrary.routeErrors(texts)
        keeps = try ScriptLibrary.keeps(texts)
        blocks = try ScriptLibrary.blocks(texts)
        let served = Set(packs + [Scripts.core])
        var problems: [ScriptProblem] = []
        var constants = ScriptConstants(Scripts.constants.map { ScriptFile($0) }, problems: &problems)
        constants.choose(numbers, problems: &problems)
        let chosen = constants
        let templates = ScriptTemplates(ScriptFile(Scripts.templates), problems: &problems)
        func builtIn(_ file: Scripts.File) -> ScriptFile {
            chosen.replaced(in: templates.expanded(in: ScriptFile(file), &problems), &problems)
        }
        let embedded = Scripts.files.filter { served.contains($0.pack) }.map { builtIn($0) }
        let operators = try directory.map { directory throws(StartProblem) in try ScriptLibrary.read(directory) } ?? []
        do {
            catalogue = try Catalogue(
                embedded: embedded, operators: operators, namespaces: Set(namespaces), reservedPaths: reservedPaths,
                isSharded: isSharded)
        } catch {
            throw StartProblem(error.problems.map(\.description).joined(separator: "\n"))
        }
        if isSharded, let script = catalogue.needingOneServer.first {
            throw StartProblem(
                "\(script.file.path) changes keys of several ids in one step, which a Redis Cluster cannot do; "
                    + "say which id decides (@span NAME -- why) and leave the others' keys to @steps, or use one server"
            )
        }
        func publisher(_ file: Scripts.File) -> ScriptFile {
            isSharded ? ScriptLibrary.sharded(builtIn(file)) : builtIn(file)
        }
        let preludes = Scripts.commandPreludes + (hasOwnTime ? [Scripts.movedPrelude] : [])
        let assembler = ScriptAssembler(
            prelude: publisher(Scripts.prelude), command: preludes.map { builtIn($0) },
            outside: builtIn(Scripts.outsidePrelude), subscribe: builtIn(Scripts.subscribe),
            position: builtIn(Scripts.position), quick: ["publish": publisher(Scripts.quickPublish)],
            elsewhere: isSharded ? builtIn(Scripts.elsewherePrelude) : nil, looked: builtIn(Scripts.lookedPrelude))
        try ScriptLibrary.check(problems)
        do {
            table = try ScriptTable(assembler.scripts(catalogue))
        } catch {
            throw StartProblem("the scripts contradict each other: \(error)")
        }
    }

    private static func check(_ problems: [ScriptProblem]) throws(StartProblem) {
        guard problems.isEmpty else { throw StartProblem(problems.map(\.description).joined(separator: "\n")) }
    }

    /// A file for a cluster, where topics' channels are sharded: it publishes by `SPUBLISH`.
    private static func sharded(_ file: ScriptFile) -> ScriptFile {
        let text = file.bytes
        let (word, other) = (Array("'PUBLISH'".utf8), Array("'SPUBLISH'".utf8))
        var result: [UInt8] = []
        var index = text.startIndex
        while index < text.endIndex {
            let isHere = text[index...].starts(with: word)
            result += isHere ? other[...] : text[index...index]
            index += isHere ? word.count : 1
        }
        return ScriptFile(name: file.name, path: file.path, bytes: result, pack: file.pack)
    }

    /// The `pack.json` texts of the served packs and of the operator's directory.
    private static func texts(
        _ packs: [String], _ directory: String?
    ) throws(StartProblem) -> [(path: String, bytes: [UInt8])] {
        var texts = packs.compactMap { name in Scripts.packs[name].map { (path: name + "/pack.json", bytes: $0) } }
        if let own = directory.map({ $0 + "/pack.json" }), Files.exists(own) {
            texts.append((own, try StartFile.read(own, bytesMax: ScriptFile.bytesMax)))
        }
        return texts
    }

    private static func keeps(_ texts: [(path: String, bytes: [UInt8])]) throws(StartProblem) -> [Kept] {
        let readers = texts.map { KeptReader($0.bytes, path: $0.path) }
        let problems = readers.flatMap(\.problems)
        try check(problems)
        return Kept.gateway + readers.flatMap(\.rows)
    }

    private static func blocks(_ texts: [(path: String, bytes: [UInt8])]) throws(StartProblem) -> BlockNames {
        var (names, problems) = (BlockNames(), [ScriptProblem]())
        for (path, bytes) in texts { names.add(bytes, path: path, &problems) }
        try check(problems)
        return names
    }

    private static func routeErrors(_ texts: [(path: String, bytes: [UInt8])]) throws(StartProblem) -> [RouteErrors] {
        var errors: [RouteErrors] = []
        var problems: [ScriptProblem] = []
        for (path, bytes) in texts {
            let reader = RouteErrorsReader(bytes, path: path, reserved: Catalogue.reservedPaths)
            problems += reader.problems
            for one in reader.errors {
                if errors.contains(where: { $0.prefix == one.prefix }) {
                    let text = "errors: another pack says how refusals below \(one.prefix) look"
                    problems.append(ScriptProblem(file: path, line: 1, message: text))
                }
                errors.append(one)
            }
        }
        try check(problems)
        return errors.sorted { ($1.prefix.utf8.count, $0.prefix) < ($0.prefix.utf8.count, $1.prefix) }
    }

    /// Reads the `.lua` files of a directory and of the folders in it, in the order of their paths.
    ///
    /// Other files, folders that begin with a dot, and the folders of folders are ignored.
    private static func read(_ directory: String) throws(StartProblem) -> [ScriptFile] {
        var paths: [String] = []
        for name in try names(in: directory, max: filesMax) {
            let path = directory + "/" + name
            if name.hasSuffix(".lua") {
                paths.append(path)
            } else if !name.hasPrefix("."), Files.exists(path + "/") {
                let inner = try names(in: path, max: filesMax - paths.count)
                paths += inner.filter { $0.hasSuffix(".lua") }.map { path + "/" + $0 }
            }
        }
        return try paths.map { path throws(StartProblem) in
            let name = (path.split(separator: "/").last ?? "").dropLast(4)
            let bytes = try StartFile.read(path, bytesMax: ScriptFile.bytesMax)
            return ScriptFile(name: String(name), path: path, bytes: bytes, directory: directory)
        }
    }

    private static func names(in directory: String, max: Int) throws(StartProblem) -> [String] {
        do {
            return try Files.names(in: directory, max: max)
        } catch {
            throw StartProblem.file(directory, error)
        }
    }
}

extension ScriptFile {
    /// An embedded file.
    init(_ file: Scripts.File) {
        self.init(name: file.name, path: file.path, bytes: file.source, pack: file.pack)
    }
}
