import Core
import Testing

@testable import Rights

/// What is sealed can be read by the holder of the key, and changed by nobody.
@Suite struct SealTests {
    private let seal = Seal(key: Array(0..<32))

    private func bytes(_ hex: String) -> [UInt8] {
        let digits = hex.utf8.compactMap { ASCII.hexValue($0) }
        return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }

    /// Test cases 13 and 14 of "The Galois/Counter Mode of Operation" (McGrew, Viega), whose nonce is zero.
    @Test func vectorsOfTheMode() {
        let zero = Seal(key: Array(repeating: 0, count: 32))
        #expect(zero.seal([], number: 0, head: []) == bytes("530f8afbc74536b9a963b4f1c4cb738b"))
        #expect(
            zero.seal(Array(repeating: 0, count: 16), number: 0, head: [])
                == bytes("cea7403d4d606b6e074ec5d3baf39d18d0d1c8a799996bf0265b98b5d48ab919"))
    }

    @Test(arguments: [0, 1, 15, 16, 17, 1_000, 70_000])
    func whatIsSealedIsOpened(_ count: Int) {
        let text = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let sealed = seal.seal(text, number: 7, head: Array("head".utf8))
        #expect(sealed.count == count + Seal.tagBytes)
        #expect(seal.open(sealed[...], number: 7, head: Array("head".utf8)) == text)
    }

    @Test func nothingElseIsOpened() {
        let head = Array("head".utf8)
        let sealed = seal.seal(Array("text".utf8), number: 7, head: head)
        #expect(seal.open(sealed[...], number: 8, head: head) == nil)
        #expect(seal.open(sealed[...], number: 7, head: head + [0]) == nil)
        #expect(seal.open(sealed[...], number: 7, head: []) == nil)
        #expect(Seal(key: Array(1..<33)).open(sealed[...], number: 7, head: head) == nil)
        for index in sealed.indices {
            var changed = sealed
            changed[index] ^= 1
            #expect(seal.open(changed[...], number: 7, head: head) == nil, "byte \(index)")
        }
        for count in 0..<sealed.count { #expect(seal.open(sealed.prefix(count), number: 7, head: head) == nil) }
        #expect(seal.open((sealed + [0])[...], number: 7, head: head) == nil)
    }
}
