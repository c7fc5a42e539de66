import Core

/// The settings of `types`.
public struct TypesSettings: Sendable, Equatable {
    /// The language of a client library.
    public enum Language: String, CaseIterable, Sendable {
        /// For `clients/js`.
        case typescript
        /// For the library `SwitchboardClient`.
        case swift
    }

    /// The language of the text.
    public var language: Language
    /// The built-in packs of scripts; the same as the gateways'.
    public var packs: [String]
    /// The directory of the operator's scripts; the same as the gateways'.
    public var scripts: String?
    /// The numbers of packs that the operator chooses; the same as the gateways'.
    public var packNumbers: [String]
    /// The names of the existing namespaces.
    public var namespaces: [String]
}

extension TypesSettings {
    /// Checks the operand; `nil` with a problem recorded when it is none.
    init?(_ values: inout SettingValues, _ file: FileReader, operands: [String]) {
        let names = Language.allCases.map(\.rawValue)
        guard operands.count == 1, let language = Language(rawValue: operands[0]) else {
            let given = operands.isEmpty ? "" : "; got " + PrintableText.quoted(operands.joined(separator: " "))
            values.problem(.command("types"), "expected " + names.joined(separator: " or ") + given)
            return nil
        }
        self.language = language
        packs = file.packs
        scripts = values.text("scripts")
        packNumbers = values.texts("pack-number")
        namespaces = file.namespaces.keys.sorted()
    }
}
