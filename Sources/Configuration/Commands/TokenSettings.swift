/// The settings of `token`.
public struct TokenSettings: Sendable, Equatable {
    /// The kind of bearer (claim `role`).
    public enum Role: String, CaseIterable, Sendable {
        /// A person.
        case user
        /// A backend.
        case service
    }

    /// The key that signs the token.
    public enum Signer: Sendable, Equatable {
        /// The secret in this file, HS256; the token's header has its id, if there is one.
        case secretFile(KeyFile)
        /// The private key in this PEM file; its kind decides the algorithm.
        case privateKey(file: String, kid: String?)
    }

    /// Claim `sub`.
    public var user: String
    /// Claim `role`.
    public var role: Role
    /// The time from now to `exp`, seconds; 1 s to 366 days, default one hour.
    public var ttlSeconds: Int
    /// Claim `topics`: topics, or `namespace:*`.
    public var topics: [String]
    /// Claim `iss`; `nil` omits it.
    public var issuer: String?
    /// Claim `aud`; `nil` omits it.
    public var audience: String?
    /// The key that signs it.
    public var signer: Signer
}

extension TokenSettings {
    /// Checks that the settings agree, and reads them.
    init(_ values: inout SettingValues) {
        if !values.has("user") {
            values.problem(.command("token"), "say whom the token names with --user")
        }
        if values.has("kid") && !values.has("key") {
            values.problem(
                values.source("kid"), "goes with --key; the id of a shared secret is written --jwt-secret-file KID=FILE"
            )
        }
        // This cannot throw here: the texts passed the same readers before.
        let ttl = values.text("ttl").flatMap { try? DurationText.seconds(parsing: $0) }
        self.init(
            user: values.text("user") ?? "", role: values.choice("role", default: .user), ttlSeconds: ttl ?? 3_600,
            topics: values.texts("topics"), issuer: values.text("jwt-issuer"), audience: values.text("jwt-audience"),
            signer: TokenSettings.signer(&values))
    }

    /// The strongest source decides.
    ///
    /// Within one source a named file takes precedence over the state directory, and two named files are a
    /// contradiction.
    private static func signer(_ values: inout SettingValues) -> Signer {
        let key = values.source("key").precedence
        let secret = values.source("jwt-secret-file").precedence
        let state = values.source("state").precedence
        if key > 0 && key == secret {
            values.problem(values.source("key"), "choose one of --key and --jwt-secret-file")
        }
        if let file = values.text("key"), key >= secret, key >= state {
            return .privateKey(file: file, kid: values.text("kid"))
        }
        // Of several secrets the first one signs: during rotation, operators write the newest one first.
        if let file = values.text("jwt-secret-file").flatMap({ try? KeyFile(parsing: $0) }), secret >= state {
            return .secretFile(file)
        }
        return .secretFile(KeyFile(path: StateDirectory(path: values.text("state") ?? ".switchboard").jwtSecret))
    }
}
