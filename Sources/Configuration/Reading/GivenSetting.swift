/// A setting as one source gave it, before its values are checked.
struct GivenSetting {
    /// The setting.
    let setting: Setting
    /// The values; one, unless the setting is repeatable.
    let texts: [String]
    /// The source of the values.
    let source: SettingSource
}
