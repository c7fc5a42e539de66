import Core

/// Reads which packs of scripts are served, and the namespaces and sockets of their `pack.json` (docs/scripts/packs.md).
///
/// They are merged in this order, whatever the order of the names: `core`, the standard packs, the other packs, the
/// operator's own. The config file is merged over them, so the operator has the last word. A pack's statements about
/// its routes are read together with its scripts.
struct PackReader {
    /// The served built-in packs but `core`, each behind the packs that it needs.
    private(set) var names: [String] = []
    /// The policies of namespaces.
    private(set) var namespaces: [String: NamespacePolicy] = [:]
    /// The rules of WebSockets by path.
    private(set) var sockets: [String: SocketRules] = [:]
    /// The paths that are namespaces of Socket.IO, too, none twice.
    private(set) var socketIONamespaces: [String] = []
    /// The pack that last named a namespace or a path, by `namespaces.NAME` and `sockets.PATH`.
    ///
    /// Nothing that `core` or a standard pack says is in here: that is a default.
    private(set) var sources: [String: SettingSource] = [:]
    /// The pack that would bring a missing namespace, by the namespace: the first by name that is not served.
    private(set) var unserved: [String: String] = [:]
    /// The problems.
    private(set) var problems: [SettingProblem] = []

    /// The pack that is always served, and that nobody names.
    static let core = "core"
    /// The words for every pack and for no pack.
    static let words = ["all", "none"]
    /// The most bytes of a `pack.json`.
    static let bytesMax = 65_536
    private static let fields = ["summary", "standard", "needs", "namespaces", "sockets", "errors", "keeps", "blocks"]
    private static let jsonLimits = JSON.Limits(depthMax: 16, elementsMax: 10_000)

    /// The place of a pack in the order of merging.
    private enum Rank: CaseIterable {
        case core, standard, other, own
    }

    private let embedded: [String: [UInt8]]
    /// The packs with `"standard": true`, by name.
    private let standard: [String]
    private var documents: [(rank: Rank, path: String, root: JSON.Value)] = []

    /// Reads the chosen packs.
    ///
    /// - Parameters:
    ///   - chosen: The value of the setting; `nil` for the standard packs.
    ///   - source: The source of the value.
    ///   - embedded: The text of each built-in pack's `pack.json`, by name; `core` is among them.
    ///   - own: The path and the text of the operator's `pack.json`; `nil` when there is none.
    init(
        _ chosen: String?, source: SettingSource, embedded: [String: [UInt8]],
        own: (path: String, bytes: [UInt8])? = nil
    ) {
        self.embedded = embedded.filter { $0.key != PackReader.core }
        standard = self.embedded.filter { PackReader.root($0.value)?["standard"]?.bool == true }.keys.sorted()
        if let bytes = embedded[PackReader.core] { read(PackReader.core + "/pack.json", bytes, .core, through: []) }
        for name in chosenNames(chosen) {
            if self.embedded[name] == nil {
                let known = self.embedded.keys.sorted() + PackReader.words
                let hint = NearestName.hint(known, to: name)
                problems.append(
                    SettingProblem(
                        source: source,
                        message: "there is no pack " + PrintableText.quoted(name)
                            + (hint.isEmpty ? "; there are " + known.joined(separator: ", ") : hint)))
                continue
            }
            take(name, through: [])
        }
        if let own { read(own.path, own.bytes, .own, through: []) }
        noteUnserved()
        for rank in Rank.allCases {
            for document in documents where document.rank == rank {
                merge(document.path, document.root, isDefault: rank == .core || rank == .standard)
            }
        }
    }

    /// The end of a sentence about a missing namespace: the pack that has it; empty without such a pack.
    static func hint(_ pack: String?) -> String {
        pack.map { "; the pack \($0) has it and is not served (--packs)" } ?? ""
    }

    private func chosenNames(_ chosen: String?) -> [String] {
        switch chosen {
        case nil: standard
        case "all": embedded.keys.sorted()
        case "none": []
        case let text?:
            text.split(separator: ",", omittingEmptySubsequences: false).map { String($0) }
        }
    }

    /// Takes a built-in pack unless it was taken already; `through` are the packs that need it.
    private mutating func take(_ name: String, through: [String]) {
        guard !names.contains(name), !through.contains(name) else { return }
        if let bytes = embedded[name] {
            read(name + "/pack.json", bytes, standard.contains(name) ? .standard : .other, through: through + [name])
        }
        names.append(name)
    }

    private mutating func noteUnserved() {
        for name in embedded.keys.sorted() where !names.contains(name) {
            guard let namespaces = embedded[name].flatMap({ PackReader.root($0) })?["namespaces"] else { continue }
            for member in namespaces.members where unserved[member.name] == nil { unserved[member.name] = name }
        }
    }

    private mutating func problem(_ path: String, _ key: String, _ message: String) {
        problems.append(SettingProblem(source: .file(path: path, key: key), message: message))
    }

    /// The object of a pack's text; `nil` when it is none.
    private static func root(_ bytes: [UInt8]) -> JSON.Value? {
        guard bytes.count <= bytesMax, let document = try? JSON(parsing: bytes, limits: jsonLimits) else { return nil }
        return document.root.kind == .object ? document.root : nil
    }

    private mutating func read(_ path: String, _ bytes: [UInt8], _ rank: Rank, through: [String]) {
        guard bytes.count <= PackReader.bytesMax else {
            return problem(path, "", "larger than \(PackReader.bytesMax) bytes")
        }
        do {
            let document = try JSON(parsing: bytes, limits: PackReader.jsonLimits)
            guard document.root.kind == .object else { return problem(path, "", "expected an object") }
            check(path, document.root, rank, through: through)
            documents.append((rank, path, document.root))
            problems = problems.map { PackReader.located($0, path, document.root) }
        } catch {
            let line = JSON.faultLine(in: bytes, limits: PackReader.jsonLimits)
            problem("\(path):\(line)", "", error.rawValue)
        }
    }

    /// Adds the line of its key to a problem of that file, as in `pack.json:4: namespaces.lot`.
    ///
    /// For an absent key this is the line of the object that lacks it. Other problems stay unchanged.
    private static func located(_ problem: SettingProblem, _ path: String, _ root: JSON.Value) -> SettingProblem {
        guard case .file(path, let key) = problem.source else { return problem }
        var place = root
        for name in key.split(separator: ".") {
            guard let member = place[String(name)] else { break }
            place = member
        }
        return SettingProblem(source: .file(path: path + ":\(place.line)", key: key), message: problem.message)
    }

    private mutating func check(_ path: String, _ root: JSON.Value, _ rank: Rank, through: [String]) {
        for member in root.members {
            switch member.name {
            case "needs": needs(path, member, through: through)
            case "standard" where rank == .core || rank == .own:
                problem(path, "standard", "leave it out: this pack is always served")
            case "standard" where member.bool != true: problem(path, "standard", "expected true, or leave it out")
            case "summary", "standard", "namespaces", "sockets", "errors", "keeps", "blocks": break
            default:
                problem(path, member.name, "unknown key" + NearestName.hint(PackReader.fields, to: member.name))
            }
        }
        if root["summary"].map({ $0.string?.isEmpty ?? true }) ?? false {
            problem(path, "summary", "expected a sentence about the pack")
        }
    }

    private mutating func merge(_ path: String, _ root: JSON.Value, isDefault: Bool) {
        if let value = root["namespaces"] {
            let reader = NamespaceReader(
                path: path, key: "namespaces", value: value, over: namespaces, unserved: unserved)
            namespaces = reader.policies
            problems += reader.problems
            for name in reader.changed where !isDefault { note("namespaces." + name, path) }
        }
        if let value = root["sockets"] {
            let reader = SocketReader(path: path, key: "sockets", value: value, over: sockets)
            sockets = reader.rules
            problems += reader.problems
            for name in reader.changed where !isDefault { note("sockets." + name, path) }
            for name in reader.socketIO where !socketIONamespaces.contains(name) { socketIONamespaces.append(name) }
            problems += SocketReader.strangers(
                reader.changed, sockets, namespaces, unserved: unserved, path: path)
        }
        problems = problems.map { PackReader.located($0, path, root) }
    }

    private mutating func note(_ key: String, _ path: String) {
        sources[key] = .file(path: path, key: key)
    }

    private mutating func needs(_ path: String, _ value: JSON.Value, through: [String]) {
        guard value.kind == .array else {
            return problem(path, "needs", "expected an array of packs; got " + FileReader.nameOfKind(value))
        }
        for member in value.members {
            guard let name = member.string, embedded[name] != nil else {
                let hint = member.string.map { NearestName.hint(embedded.keys.sorted(), to: $0) } ?? ""
                let got = "; got " + (member.string.map { PrintableText.quoted($0) } ?? FileReader.nameOfKind(member))
                problem(path, "needs", "expected the names of built-in packs" + got + hint)
                continue
            }
            take(name, through: through)
        }
    }
}
