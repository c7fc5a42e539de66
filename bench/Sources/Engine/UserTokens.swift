import Core
import Reactors
import Rights
import Service

/// Signs tokens for the users of a run: client `n` is the user `u` followed by `n` in twelve digits.
struct UserTokens {
    private let signer: TokenSigner

    /// Reads the gateway's HS256 secret.
    init(secretFile: String) throws(BenchFailure) {
        do {
            signer = try TokenSigner(secretFile: try Files.read(secretFile, bytesMax: 65_536))
        } catch {
            throw BenchFailure("cannot sign tokens with \(secretFile): \(error)")
        }
    }

    static func user(_ number: Int) -> String {
        let digits = String(number)
        return "u" + String(repeating: "0", count: max(12 - digits.utf8.count, 0)) + digits
    }

    /// A token valid for a day; `nil` when it cannot be signed.
    func token(_ number: Int) -> String? {
        let expiresAt = Clock.wallMs() / 1_000 + 86_400
        guard
            let identity = Identity(
                user: Array(UserTokens.user(number).utf8), role: .user, topics: [], expiresAt: expiresAt),
            let token = try? signer.sign(try TokenClaims(identity))
        else { return nil }
        return String(decoding: token, as: UTF8.self)
    }
}
