/// The gateway that `publish` and `tail` connect to, and the certificates that they trust.
public struct GatewayAddress: Sendable, Equatable {
    /// The certificates that are trusted.
    public enum Trust: Sendable, Equatable {
        /// Those that the system trusts.
        case system
        /// Those of this PEM file.
        case file(String)
        /// Any; `--insecure`.
        case anything
    }

    /// `https://host:port` or `http://host:port`; `nil` is the running dev gateway.
    ///
    /// The ready file of ``state`` has the address of the latter.
    public var url: String?
    /// The certificates that are trusted.
    public var trust: Trust
    /// The state directory of dev.
    public var state: StateDirectory
}

extension GatewayAddress {
    /// Checks that the settings agree, and reads them.
    init(_ values: inout SettingValues) {
        url = values.text("url")
        state = StateDirectory(path: values.text("state") ?? ".switchboard")
        let insecure = values.boolean("insecure", default: false)
        if insecure && values.source("ca").precedence == values.source("insecure").precedence {
            values.problem(values.source("insecure"), "choose one of --insecure and --ca")
        }
        if insecure {
            trust = .anything
        } else if let file = values.text("ca") {
            trust = .file(file)
        } else {
            trust = values.has("url") ? .system : .file(state.certificate)
        }
    }
}
