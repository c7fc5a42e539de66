import Configuration
import Core
import Push
import Rights
import Service

/// A courier's credentials for APNs, and the address of APNs.
///
/// Immutable.
struct APNsKey: Sendable {
    /// The id of the key, ten letters and digits.
    let keyID: String
    /// The bundle id of the app.
    let topic: String
    /// An address in place of APNs's own, for tests; `nil`: by each device's environment.
    let url: String?
    private let team: String
    private let signer: TokenSigner

    private static let bytesMax = 4_096

    /// Reads the key file; `nil` when no file is set.
    init?(_ settings: CourierSettings) throws(StartProblem) {
        guard let path = settings.apnsKeyFile, let keyID = settings.apnsKeyID, let team = settings.apnsTeam,
            let topic = settings.apnsTopic
        else { return nil }
        let file = try StartFile.read(path, bytesMax: APNsKey.bytesMax)
        do {
            signer = try TokenSigner(privateKeyPEM: file, keyID: Array(keyID.utf8))
        } catch {
            throw StartProblem("--apns-key-file \(path): \(error)")
        }
        guard signer.algorithm == .es256 else {
            throw StartProblem("--apns-key-file \(path) must hold a P-256 key, as Apple gives them (.p8)")
        }
        (self.keyID, self.team, self.topic, url) = (keyID, team, topic, settings.apnsURL)
    }

    /// A provider token made at a time, seconds since 1970; `nil` when OpenSSL fails.
    func token(second: Int) -> [UInt8]? {
        try? signer.sign(payload: ProviderToken.claims(team: Array(team.utf8), second: second))
    }
}
