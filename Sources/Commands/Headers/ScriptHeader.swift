import Core

/// The header of a script: its tags, typed and in order.
///
/// A header is the leading lines that begin with `--`. A tag line is `-- @tag value`, and every other such line is
/// prose. The reader continues after a mistake, so that the author sees all mistakes at once.
public struct ScriptHeader: Sendable {
    /// The file it belongs to.
    public let file: ScriptFile
    /// The purpose of the script.
    public let kind: ScriptKind
    /// The tags that could be read; for a plain script only its weight, since its other tags are documentation.
    public let tags: [HeaderTag]

    /// The most lines a header may have.
    public static let linesMax = 256
    /// The most bytes a line of a header may have.
    public static let lineBytesMax = 1_024

    /// A tag before its value is read.
    private struct RawTag {
        let line: Int
        let tag: ScriptTag
        let text: String
    }

    /// Reads the header of a file and appends its problems.
    public init(_ file: ScriptFile, problems: inout [ScriptProblem]) {
        self.file = file
        guard file.bytes.count <= ScriptFile.bytesMax else {
            problems.append(
                ScriptProblem(file: file.path, line: 1, message: "a script may have \(ScriptFile.bytesMax) bytes"))
            (kind, tags) = (.plain, [])
            return
        }
        var hasUnknown = false
        let raw = ScriptHeader.rawTags(file, &problems, &hasUnknown)
        let kind = ScriptKind(Set(raw.map(\.tag)))
        self.kind = kind
        // The other tags of a plain script describe KEYS and ARGV in a grammar of their own.
        let read = kind == .plain ? raw.filter { $0.tag == .weight } : raw
        tags = ScriptHeader.read(read, kind, file, &problems)
        // An unknown tag may be a mistyped one that decides the kind or that is needed, so needed tags are not checked.
        if !hasUnknown { ScriptHeader.checkNeeded(raw, kind, file, &problems) }
    }

    /// Splits the leading comment lines into tags.
    private static func rawTags(
        _ file: ScriptFile, _ problems: inout [ScriptProblem], _ hasUnknown: inout Bool
    ) -> [RawTag] {
        var tags: [RawTag] = []
        var rest = file.bytes[...]
        var number = 0
        while rest.starts(with: "--".utf8) {
            number += 1
            let first = number
            var line = rest.prefix { $0 != UInt8(ascii: "\n") }
            rest = rest[line.endIndex...].dropFirst()
            if line.last == UInt8(ascii: "\r") { line = line.dropLast() }
            let text = HeaderText.trimmed(line.dropFirst(2))
            guard text.first == UInt8(ascii: "@") else { continue }
            func problem(_ message: String) {
                problems.append(ScriptProblem(file: file.path, line: number, message: message))
            }
            guard number <= linesMax else {
                problem("a header may have \(linesMax) lines")
                break
            }
            guard line.count <= lineBytesMax else {
                problem("a line of a header may have \(lineBytesMax) bytes")
                continue
            }
            guard line.starts(with: "-- @".utf8) else {
                problem("a tag is written \"-- @tag value\", with one space before the @")
                continue
            }
            let name = text.dropFirst().prefix { $0 != UInt8(ascii: " ") }
            let value = String(decoding: HeaderText.trimmed(text[name.endIndex...]), as: UTF8.self)
            let word = String(decoding: name, as: UTF8.self)
            guard let tag = ScriptTag(rawValue: word) else {
                hasUnknown = true
                let names = ScriptTag.allCases.map(\.rawValue)
                problem("unknown tag @" + PrintableText.clean(word) + NearestName.hint(names, to: word, prefix: "@"))
                continue
            }
            guard !PrintableText.hasControl(value), UTF8Text.isValid(Array(text)) else {
                problem("@\(word) has a tab, a control character or bytes that are not UTF-8")
                continue
            }
            let whole = tag.hasType ? continued(value, &rest, &number) : value
            tags.append(RawTag(line: first, tag: tag, text: whole))
        }
        return tags
    }

    /// A type with the lines that go on with it: while a bracket is open, those that are no tags.
    private static func continued(_ value: String, _ rest: inout ArraySlice<UInt8>, _ number: inout Int) -> String {
        var value = value
        while number < linesMax, rest.starts(with: "--".utf8), ValueTypeReader.isOpen(value) {
            let line = rest.prefix { $0 != UInt8(ascii: "\n") }
            var text = HeaderText.trimmed(line.dropFirst(2))
            if text.last == UInt8(ascii: "\r") { text = text.dropLast() }
            let more = String(decoding: text, as: UTF8.self)
            guard text.first != UInt8(ascii: "@"), line.count <= lineBytesMax, UTF8Text.isValid(Array(text)),
                !PrintableText.hasControl(more)
            else { break }
            (number, rest) = (number + 1, rest[line.endIndex...].dropFirst())
            value += "\n" + more
        }
        return value
    }

    /// Reads the values and checks repetitions.
    private static func read(
        _ raw: [RawTag], _ kind: ScriptKind, _ file: ScriptFile, _ problems: inout [ScriptProblem]
    ) -> [HeaderTag] {
        var tags: [HeaderTag] = []
        var firstLines: [ScriptTag: Int] = [:]
        var counts: [ScriptTag: Int] = [:]
        for item in raw {
            func problem(_ message: String) {
                problems.append(ScriptProblem(file: file.path, line: item.line, message: message))
            }
            let name = "@" + item.tag.rawValue
            if let first = firstLines[item.tag], !item.tag.isRepeatable {
                problem(name + " was given before, on line \(first)")
                continue
            }
            firstLines[item.tag] = firstLines[item.tag] ?? item.line
            counts[item.tag, default: 0] += 1
            guard counts[item.tag, default: 0] <= ScriptTag.repetitionsMax else {
                problem("a header may have \(ScriptTag.repetitionsMax) of " + name)
                continue
            }
            guard !kind.foreign.contains(item.tag) else {
                problem(name + " does not belong in a script with @\(kind.rawValue)")
                continue
            }
            do throws(HeaderFault) {
                let value = try TagReader.read(item.tag, item.text)
                tags.append(HeaderTag(line: item.line, tag: item.tag, value: value))
            } catch {
                let line = item.line + error.linesBelow
                problems.append(ScriptProblem(file: file.path, line: line, message: name + ": " + error.message))
            }
        }
        return tags
    }

    private static func checkNeeded(
        _ raw: [RawTag], _ kind: ScriptKind, _ file: ScriptFile, _ problems: inout [ScriptProblem]
    ) {
        let given = Set(raw.map(\.tag))
        for tag in kind.needed where !given.contains(tag) {
            problems.append(
                ScriptProblem(
                    file: file.path, line: 1,
                    message: "a script with @\(kind.rawValue) needs @\(tag.rawValue)"))
        }
    }
}
