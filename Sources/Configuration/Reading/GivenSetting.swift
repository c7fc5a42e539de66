/// A setting as one source gave it, before its values are checked.
struct GivenSetting {
    /// Which setting.
    let setting: Setting
    /// The values; one, unless the setting is repeatable.
    let texts: [String]
    /// Where they were written.
    let source: SettingSource
}
