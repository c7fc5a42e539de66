import Core
import Rights
import Testing

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
}
