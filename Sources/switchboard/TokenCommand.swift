import Configuration
import Core
import Gateway
import Reactors
import Rights
import Service

/// `switchboard token`: prints a signed token for tests and scripts.
enum TokenCommand {
    /// Prints the token and nothing else.
    static func run(_ settings: TokenSettings) throws(StartProblem) -> Int32 {
        do {
            let now = Clock.wallMs() / 1_000
            let patterns = try settings.topics.map { text throws(StartProblem) in
                guard let pattern = TopicPattern(text) else {
                    throw StartProblem("--topics: '\(text)' is neither a topic nor namespace:*")
                }
                return pattern
            }
            guard
                let identity = Identity(
                    user: Array(settings.user.utf8), role: settings.role == .service ? .service : .user,
                    topics: patterns.isEmpty ? nil : patterns, expiresAt: now + settings.ttlSeconds, issuedAt: now,
                    issuer: settings.issuer.map { Array($0.utf8) }, tokenID: SecureRandom.text(byteCount: 12))
            else { throw StartProblem("--user: 1 to 128 of A-Z a-z 0-9 . _ ~ : -") }
            let claims = try TokenClaims(identity, audience: settings.audience.map { Array($0.utf8) })
            Terminal.print(String(decoding: try signer(settings.signer).sign(claims), as: UTF8.self))
            return 0
        } catch {
            throw error as? StartProblem ?? StartProblem("\(error)")
        }
    }

    private static func signer(_ signer: TokenSettings.Signer) throws -> TokenSigner {
        switch signer {
        case .secretFile(let file):
            return try TokenSigner(secretFile: try read(file.path), keyID: file.keyID.map { Array($0.utf8) })
        case .privateKey(let path, let kid):
            return try TokenSigner(privateKeyPEM: try read(path), keyID: kid.map { Array($0.utf8) })
        }
    }

    private static func read(_ path: String) throws(StartProblem) -> [UInt8] {
        try StartFile.read(path, bytesMax: 1 << 20)
    }
}
