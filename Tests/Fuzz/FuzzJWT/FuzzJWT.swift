import Core
import Rights

/// What the harness keeps between runs.
private struct Harness {
    static let secret = Array("0123456789abcdef0123456789ABCDEF".utf8)
    static let now = 1_800_000_000

    let verifier: TokenVerifier

    init() {
        var keys = TokenKeys()
        do {
            try keys.addSecret(Harness.secret)
            // The P-256 and Ed25519 keys of RFC 7515 appendix A.3 and RFC 8037 appendix A.2.
            let jwks = """
                {"keys":[{"kid":"e","kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",\
                "y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"},\
                {"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}
                """
            try keys.addJWKS(Array(jwks.utf8))
        } catch {
            preconditionFailure("the harness's own keys: \(error)")
        }
        verifier = TokenVerifier(
            keys: keys, rules: TokenRules(tokenBytesMax: 8_192, leewaySeconds: 30, issuer: nil, audience: nil))
    }
}

private let harness = Harness()

/// Tells LeakSanitizer about the keys kept for the whole run: Swift packs the case of an enum into the spare bits of
/// the pointer in it, where the leak checker does not recognise a pointer.
///
/// Leaks of every other origin are reported.
@_cdecl("__lsan_default_suppressions")
public func leakSuppressions() -> UnsafePointer<UInt8> {
    unsafe ("leak:Harness\n" as StaticString).utf8Start
}

/// Takes one input three ways: as a token, as header and claims that are signed here so that claim parsing is
/// reached, and as the key files and lists of an operator.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
    let bytes = unsafe Array(UnsafeBufferPointer(start: data, count: size))
    if case .success = harness.verifier.verify(bytes, now: Harness.now) {
        // Only the secret's holder can make a token; chance cannot, unless the secret leaked into the corpus.
        precondition(bytes.count > 43)
    }
    verifySigned(bytes)
    readFiles(bytes)
    return 0
}

/// Splits at the first NUL into header and claims; without one, all of it is claims under a good header.
private func verifySigned(_ bytes: [UInt8]) {
    let parts = bytes.split(separator: 0, maxSplits: 1, omittingEmptySubsequences: false)
    let header = parts.count == 2 ? Array(parts[0]) : Array(#"{"alg":"HS256"}"#.utf8)
    let claims = parts.last ?? []
    let message = Base64.encode(header, .url) + [UInt8(ascii: ".")] + Base64.encode(claims, .url)
    let mac = Digest.hmacSHA256(key: Harness.secret, message)
    let token = message + [UInt8(ascii: ".")] + Base64.encode(mac, .url)
    guard case .success(let identity) = harness.verifier.verify(token, now: Harness.now) else { return }
    // What was accepted keeps its promises.
    precondition(Identity.isUser(identity.user))
    precondition(Topic(namespace: Array("user".utf8), id: identity.user) != nil)
    precondition(identity.topics.count <= Identity.topicsMax)
    precondition(identity.topics.allSatisfy { TopicPattern($0.text) == $0 })
    precondition(identity.expiresAt + 30 > Harness.now)
}

/// The other parsers of the room.
private func readFiles(_ bytes: [UInt8]) {
    var keys = TokenKeys()
    _ = try? keys.addPublicKeys(bytes)
    _ = try? keys.addSecret(bytes)
    _ = try? TokenSigner(privateKeyPEM: bytes)
    _ = (try? APIKeys(file: bytes))?.match(bytes)
    if let pattern = TopicPattern(bytes) { precondition(pattern.text == bytes) }
    let text = String(decoding: bytes.prefix(256), as: UTF8.self)
    guard let policy = try? OriginPolicy(allowing: [text]) else { return }
    let verdict = policy.judge(origins: [Array(text.utf8)], host: bytes, secure: true, isOwnName: { _ in false })
    precondition(verdict == .allowed || text == "*", "a listed origin must be allowed")
}
