import Core

/// All sources together: each setting's winning value and where it came from.
///
/// Layers are added from the weakest to the strongest; every value of every layer is checked, so that a mistake hidden
/// under a flag is still told. Limits are overridden one by one, everything else as a whole.
struct SettingValues {
    private struct Entry {
        var texts: [String]
        var source: SettingSource
        /// Whether the texts passed their check; a setting that failed counts as given and has no value.
        var valid: Bool
    }

    /// The command they are for.
    let command: CommandName
    private var entries: [String: Entry] = [:]
    /// The limits, defaults included.
    private(set) var limits = Limits()
    /// Where each changed limit was set.
    private(set) var limitSources: [String: SettingSource] = [:]
    /// What was wrong so far.
    var problems: [SettingProblem] = []

    init(command: CommandName) {
        self.command = command
    }

    /// Puts a stronger source over those added before.
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

    /// Records a mistake in how settings fit together.
    mutating func problem(_ source: SettingSource, _ message: String) {
        problems.append(SettingProblem(source: source, message: message))
    }

    /// Sets the limit that a setting of its own stands for.
    mutating func setLimit(_ name: String, _ value: Int, source: SettingSource) {
        guard let entry = Limits.table.first(where: { $0.name == name }) else { return }
        limits[keyPath: entry.path] = value
        limitSources[name] = source
    }

    /// Whether somebody set it, rightly or not.
    func has(_ name: String) -> Bool { entries[name] != nil }

    /// Where it was set.
    func source(_ name: String) -> SettingSource { entries[name]?.source ?? .defaults }

    /// Its value's text; `nil` when it was not set or is wrong.
    func text(_ name: String) -> String? { texts(name).first }

    /// Its values' texts; empty when it was not set or is wrong.
    func texts(_ name: String) -> [String] {
        guard let entry = entries[name], entry.valid else { return [] }
        return entry.texts
    }

    /// A whole number.
    func integer(_ name: String) -> Int? { text(name).flatMap { ASCII.signedDecimal(Array($0.utf8)) } }

    /// A boolean.
    func boolean(_ name: String, default standard: Bool) -> Bool { text(name).map { $0 == "true" } ?? standard }

    /// An address; the text passed the same reader before, so it cannot fail here.
    func hostPort(_ name: String) -> HostPort? { text(name).flatMap { try? HostPort(parsing: $0) } }

    /// A word of a list.
    func choice<Choice: RawRepresentable>(_ name: String, default standard: Choice) -> Choice
    where Choice.RawValue == String {
        text(name).flatMap { Choice(rawValue: $0) } ?? standard
    }
}
