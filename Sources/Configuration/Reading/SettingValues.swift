import Core

/// The values of all sources: each setting's winning value, and its source.
///
/// Sources are added from the weakest to the strongest. Every value of every source is checked, so that a mistake is
/// reported even when a flag overrides it. Limits are overridden one by one, everything else as a whole.
struct SettingValues {
    private struct Entry {
        var texts: [String]
        var source: SettingSource
        /// Whether the texts passed their check; a setting that failed it counts as given and has no value.
        var valid: Bool
    }

    /// The command that the values are for.
    let command: CommandName
    private var entries: [String: Entry] = [:]
    /// The limits, defaults included.
    private(set) var limits = Limits()
    /// The source of each changed limit.
    private(set) var limitSources: [String: SettingSource] = [:]
    /// The problems so far.
    var problems: [SettingProblem] = []

    init(command: CommandName) {
        self.command = command
    }

    /// Adds a stronger source over those added before.
    mutating func add(_ given: [GivenSetting]) {
        for item in given {
            if item.setting.kind == .limit {
                for text in item.texts { addLimit(text, item) }
                continue
            }
            var valid = true
            for text in item.texts {
                do throws(ValueFault) {
                    try item.setting.kind.check(text)
                } catch {
                    valid = false
                    refuse(text, item, error)
                }
            }
            entries[item.setting.name] = Entry(texts: item.texts, source: item.source, valid: valid)
        }
    }

    private mutating func addLimit(_ text: String, _ item: GivenSetting) {
        do throws(ValueFault) {
            let assignment = try LimitAssignment(parsing: text)
            limits[keyPath: assignment.entry.path] = assignment.value
            limitSources[assignment.entry.name] = item.source
        } catch {
            refuse(text, item, error)
        }
    }

    private mutating func refuse(_ text: String, _ item: GivenSetting, _ fault: ValueFault) {
        var message = "expected " + fault.expected
        if case .choice(let words) = item.setting.kind { message += NearestName.hint(words, to: text) }
        if !item.setting.secret && !text.isEmpty { message += "; got " + PrintableText.quoted(text) }
        problems.append(SettingProblem(source: item.source, message: message))
    }

    /// Records a conflict between settings.
    mutating func problem(_ source: SettingSource, _ message: String) {
        problems.append(SettingProblem(source: source, message: message))
    }

    /// Sets the limit that another setting represents.
    mutating func setLimit(_ name: String, _ value: Int, source: SettingSource) {
        guard let entry = Limits.table.first(where: { $0.name == name }) else { return }
        limits[keyPath: entry.path] = value
        limitSources[name] = source
    }

    /// Whether a source gave the setting, with a valid value or not.
    func has(_ name: String) -> Bool { entries[name] != nil }

    /// The source of the setting.
    func source(_ name: String) -> SettingSource { entries[name]?.source ?? .defaults }

    /// The text of its value; `nil` when it was not given or is invalid.
    func text(_ name: String) -> String? { texts(name).first }

    /// The texts of its values; empty when it was not given or is invalid.
    func texts(_ name: String) -> [String] {
        guard let entry = entries[name], entry.valid else { return [] }
        return entry.texts
    }

    /// A whole number.
    func integer(_ name: String) -> Int? { text(name).flatMap { ASCII.signedDecimal(Array($0.utf8)) } }

    /// A boolean.
    func boolean(_ name: String, default standard: Bool) -> Bool { text(name).map { $0 == "true" } ?? standard }

    /// An address; the text passed the same reader before, so reading cannot fail here.
    func hostPort(_ name: String) -> HostPort? { text(name).flatMap { try? HostPort(parsing: $0) } }

    /// A word of a list.
    func choice<Choice: RawRepresentable>(_ name: String, default standard: Choice) -> Choice
    where Choice.RawValue == String {
        text(name).flatMap { Choice(rawValue: $0) } ?? standard
    }
}
