import Core
import Testing

@testable import Rights

/// Segments, base64url, size.
@Suite struct JWTEncodingTests {
    private let header = base64url(goodHeader.utf8)
    private let claims = base64url(goodClaims.utf8)

    @Test(arguments: ["=", "==", "\n", " ", "\r\n", "\t", "+", "/", "%3D", "\0", "A"])
    func paddingOtherAlphabetAndWhiteSpaceInTheHeaderAreRefused(_ extra: String) throws {
        let verifier = try secretVerifier()
        for text in [header + extra, extra + header] {
            let failure = verifier.verify(signed(Array("\(text).\(claims)".utf8)), now: now).failure
            #expect(failure == .encoding || failure == .header)
        }
    }

    @Test(arguments: ["=", "==", "\n", " ", "\r\n", "\t", "+", "/", "%3D", "\0", "A"])
    func paddingOtherAlphabetAndWhiteSpaceInTheClaimsAreRefused(_ extra: String) throws {
        let verifier = try secretVerifier()
        for text in [claims + extra, extra + claims] {
            let failure = verifier.verify(signed(Array("\(header).\(text)".utf8)), now: now).failure
            #expect(failure == .encoding || failure == .claims)
        }
    }

    @Test(arguments: ["=", "==", "\n", " ", "\r\n", "\t", "+", "/", "%3D", "\0"])
    func paddingOtherAlphabetAndWhiteSpaceInTheSignatureAreRefused(_ extra: String) throws {
        let failure = try secretVerifier().verify(token() + Array(extra.utf8), now: now).failure
        #expect(failure == .encoding || failure == .signature)
    }

    /// Without this check one token would have several spellings, which defeats any list of seen tokens.
    @Test func trailingBitsAreRefusedInEverySegment() throws {
        let verifier = try secretVerifier()
        let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
        // 32 bytes of HMAC leave two spare bits in the last digit.
        let good = token()
        let last = try #require(digits.firstIndex(of: good[good.count - 1]))
        for bits in 1...3 {
            let changed = good.dropLast() + [digits[last + bits]]
            #expect(verifier.verify(Array(changed), now: now).failure == .encoding)
        }
        // `{"a":1}` is 7 bytes: four spare bits.
        for (header, claims) in [(header, base64url(#"{"a":1}"#.utf8)), (base64url(#"{"a":1}"#.utf8), claims)] {
            for segment in [header, claims] where segment.utf8.count % 4 == 2 {
                let tail = try #require(segment.utf8.last.flatMap { digits.firstIndex(of: $0) })
                let changed = String(segment.dropLast()) + String(decoding: [digits[tail + 1]], as: UTF8.self)
                let message = segment == header ? "\(changed).\(claims)" : "\(header).\(changed)"
                #expect(verifier.verify(signed(Array(message.utf8)), now: now).failure == .encoding)
            }
        }
    }

    @Test(arguments: ["", ".", "..", "...", "a", "a.b", "a.b.c.d", "a.b.c.", ".a.b.c", "a.b.c.d.e"])
    func anythingButThreeSegmentsIsRefused(_ text: String) throws {
        let failure = try secretVerifier().verify(Array(text.utf8), now: now).failure
        #expect(failure == (text.isEmpty ? .length : text == ".." ? .header : .shape))
    }

    @Test func tokenWithoutHeaderOrClaimsIsRefused() throws {
        let verifier = try secretVerifier()
        #expect(verifier.verify(signed(Array(".\(claims)".utf8)), now: now).failure == .header)
        #expect(verifier.verify(signed(Array("\(header).".utf8)), now: now).failure == .claims)
    }

    @Test func tokenOfOneMegabyteIsRefusedByLength() throws {
        let long = [UInt8](repeating: UInt8(ascii: "A"), count: 1_048_576)
        #expect(try secretVerifier().verify(long, now: now).failure == .length)
        let padded = token(claims: #"{"sub":"u1","exp":1800000600,"x":"\#(String(repeating: "x", count: 1_048_576))"}"#)
        #expect(try secretVerifier().verify(padded, now: now).failure == .length)
    }

    /// CVE-2025-30204: a split at every dot.
    @Test func tokenOfHundredThousandDotsIsRefused() throws {
        let dots = [UInt8](repeating: UInt8(ascii: "."), count: 100_000)
        #expect(try secretVerifier().verify(dots, now: now).failure == .length)
        #expect(try secretVerifier().verify(Array(dots.prefix(8_192)), now: now).failure == .shape)
    }

    @Test func tokenAtTheLimitIsAcceptedAndOneByteMoreIsNot() throws {
        let good = token()
        for (max, accepted) in [(good.count, true), (good.count - 1, false)] {
            var rules = rules()
            rules.tokenBytesMax = max
            #expect((try secretVerifier(rules).verify(good, now: now).identity != nil) == accepted)
        }
    }

    @Test func noKeysMeansNoTokens() {
        let verifier = TokenVerifier(keys: TokenKeys(), rules: rules())
        #expect(verifier.verify(token(), now: now).failure == .algorithm)
    }

    @Test(arguments: TokenFailure.allCases)
    func everyFailureIsUnauthorizedWithASentence(_ failure: TokenFailure) {
        #expect(failure.refusal.code == .unauthorized)
        #expect(failure.refusal.message.hasSuffix(".") || failure == .subject)
        #expect(failure.rawValue.hasPrefix("token_"))
    }
}
