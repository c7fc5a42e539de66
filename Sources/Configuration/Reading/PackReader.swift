import Core

/// Reads which packs of scripts are served, and the namespaces and sockets of their `pack.json` (lua/README.md).
///
/// The config file is merged over them, so the operator has the last word. A pack's statements about its routes are
/// read together with its scripts.
struct PackReader {
    /// The served built-in packs, each behind the packs that it needs.
    private(set) var names: [String] = []
    /// The policies of namespaces, merged over the defaults.
    private(set) var namespaces = NamespacePolicy.defaults
    /// The rules of WebSockets by path, merged over the defaults.
    private(set) var sockets = SocketRules.defaults
    /// The pack that last named a namespace or a path, by `namespaces.NAME` and `sockets.PATH`.
    private(set) var sources: [String: SettingSource] = [:]
    /// The problems.
    private(set) var problems: [SettingProblem] = []

    /// The packs that are served by default.
    static let standard = ["barbershop"]
    /// The words for every pack and for no pack.
    static let words = ["all", "none"]
    /// The most bytes of a `pack.json`.
    static let bytesMax = 65_536
    private static let fields = ["summary", "needs", "namespaces", "sockets", "errors", "keeps"]
    private static let jsonLimits = JSON.Limits(depthMax: 16, elementsMax: 10_000)

    private let embedded: [String: [UInt8]]

    /// Reads the chosen packs.
    ///
    /// - Parameters:
    ///   - chosen: The value of the setting; `nil` for the standard packs.
    ///   - source: The source of the value.
    ///   - embedded: The text of each built-in pack's `pack.json`, by name.
    ///   - own: The path and the text of the operator's `pack.json`; `nil` when there is none.
    init(
        _ chosen: String?, source: SettingSource, embedded: [String: [UInt8]],
        own: (path: String, bytes: [UInt8])? = nil
    ) {
        self.embedded = embedded
        for name in PackReader.names(chosen, embedded) {
            if chosen != nil, embedded[name] == nil {
                let known = embedded.keys.sorted() + PackReader.words
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
        if let own { read(own.path, own.bytes, through: []) }
    }

    private static func names(_ chosen: String?, _ embedded: [String: [UInt8]]) -> [String] {
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
        if let bytes = embedded[name] { read(name + "/pack.json", bytes, through: through + [name]) }
        names.append(name)
    }

    private mutating func problem(_ path: String, _ key: String, _ message: String) {
        problems.append(SettingProblem(source: .file(path: path, key: key), message: message))
    }

    private mutating func read(_ path: String, _ bytes: [UInt8], through: [String]) {
        guard bytes.count <= PackReader.bytesMax else {
            return problem(path, "", "larger than \(PackReader.bytesMax) bytes")
        }
        do {
            let document = try JSON(parsing: bytes, limits: PackReader.jsonLimits)
            guard document.root.kind == .object else { return problem(path, "", "expected an object") }
            read(path, document.root, through: through)
            problems = problems.map { PackReader.located($0, path, document.root) }
        } catch {
            let line = JSON.faultOffset(in: bytes, limits: PackReader.jsonLimits).map { offset in
                ":\(1 + bytes.prefix(offset).count { $0 == 0x0a })"
            }
            problem(path + (line ?? ""), "", error.rawValue)
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

    private mutating func read(_ path: String, _ root: JSON.Value, through: [String]) {
        for member in root.members {
            switch member.name {
            case "needs": needs(path, member, through: through)
            case "summary", "namespaces", "sockets", "errors", "keeps": break
            default:
                problem(path, member.name, "unknown key" + NearestName.hint(PackReader.fields, to: member.name))
            }
        }
        if root["summary"].map({ $0.string?.isEmpty ?? true }) ?? false {
            problem(path, "summary", "expected a sentence about the pack")
        }
        if let value = root["namespaces"] {
            let reader = NamespaceReader(path: path, key: "namespaces", value: value, over: namespaces)
            namespaces = reader.policies
            problems += reader.problems
            for name in reader.changed { note("namespaces." + name, path) }
        }
        if let value = root["sockets"] {
            let reader = SocketReader(path: path, key: "sockets", value: value, over: sockets)
            sockets = reader.rules
            problems += reader.problems
            for name in reader.changed { note("sockets." + name, path) }
            problems += SocketReader.strangers(reader.changed, sockets, namespaces, path: path)
        }
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
