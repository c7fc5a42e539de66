import Core
import Testing

@testable import Rights

@Suite struct DigestTests {
    private func hex(_ bytes: [UInt8]) -> String {
        bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }

    /// The examples of FIPS 180-4.
    @Test func vectorsOfTheStandards() {
        #expect(hex(Digest.sha1("abc".utf8)) == "a9993e364706816aba3e25717850c26c9cd0d89d")
        #expect(hex(Digest.sha1([])) == "da39a3ee5e6b4b0d3255bfef95601890afd80709")
        #expect(
            hex(Digest.sha256("abc".utf8)) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        #expect(hex(Digest.sha256([])) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
    }

    /// RFC 4231 section 4.3.
    @Test func vectorOfHMAC() {
        #expect(
            hex(Digest.hmacSHA256(key: Array("Jefe".utf8), "what do ya want for nothing?".utf8))
                == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
    }

    /// RFC 6455 section 1.3.
    @Test func webSocketAcceptKey() {
        let digest = Digest.sha1("dGhlIHNhbXBsZSBub25jZQ==258EAFA5-E914-47DA-95CA-C5AB0DC85B11".utf8)
        #expect(Base64.encode(digest, .standard) == Array("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=".utf8))
    }

    @Test func equalityIsThatOfBytes() {
        #expect(Digest.equalInConstantTime([], []))
        #expect(Digest.equalInConstantTime([1, 2], [1, 2]))
        #expect(!Digest.equalInConstantTime([1, 2], [1, 3]))
        #expect(!Digest.equalInConstantTime([1, 2], [1]))
    }

    @Test func randomBytesDiffer() throws {
        #expect(SecureRandom.bytes(0).isEmpty)
        #expect(SecureRandom.bytes(-0).isEmpty)
        #expect(Set((0..<1_000).map { _ in SecureRandom.bytes(16) }).count == 1_000)
        let text = SecureRandom.text(byteCount: 12)
        #expect(text.count == 16 && Position.isEpoch(text))
        var random = SecureRandom()
        #expect(Set((0..<1_000).map { _ in random.next() }).count == 1_000)
        #expect((0..<100).contains(Int.random(in: 0..<100, using: &random)))
    }
}
