/// Which gateway `publish` and `tail` speak to, and why they believe it is that one.
public struct GatewayAddress: Sendable, Equatable {
    /// Which certificates are believed.
    public enum Trust: Sendable, Equatable {
        /// Those the system trusts.
        case system
        /// Those of this PEM file.
        case file(String)
        /// Any; `--insecure`.
        case anything
    }

    /// `https://host:port` or `http://host:port`; `nil` means the running dev gateway, whose address is in the ready
    /// file of ``state``.
    public var url: String?
    /// Which certificates are believed.
    public var trust: Trust
    /// The state directory of dev.
    public var state: StateDirectory

    /// Makes an address of known parts.
    public init(url: String?, trust: Trust, state: StateDirectory) {
        self.url = url
        self.trust = trust
        self.state = state
    }
}

extension GatewayAddress {
    /// Checks how the settings fit together, and reads them.
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
