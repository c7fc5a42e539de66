import Core
import Testing

@testable import Rights

@Suite struct EpochSourceTests {
    @Test func epochsAreWellFormedAndNeverTheSame() {
        var seen: Set<[UInt8]> = []
        for _ in 0..<50 {
            var source = EpochSource()
            for _ in 0..<100 {
                let epoch = source.next()
                #expect(Position.isEpoch(epoch))
                #expect(seen.insert(epoch).inserted)
            }
        }
    }

    /// `switchboard tail --since --O69BJB-29:1` was refused: an epoch that began with two dashes was read as a flag.
    @Test func noEpochLooksLikeAFlag() {
        var source = EpochSource(random: [0xFB, 0xEF, 0xBE, 0xFB, 0xEF, 0xBE])
        #expect(source.next() == Array("e--------1".utf8))
    }
}
