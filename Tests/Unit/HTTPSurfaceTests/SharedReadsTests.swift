import Core
import Testing

@testable import HTTPSurface

/// Operators that ask the same at the same time cost Redis one read.
@Suite struct SharedReadsTests {
    private final class World {
        var nowMs = 0
        var pending: [SharedReads<Int>.Completion] = []
        var answers: [String] = []

        func note(_ result: Result<[UInt8], Refusal>) {
            switch result {
            case .success(let text): answers.append(String(decoding: text, as: UTF8.self))
            case .failure(let refusal): answers.append(refusal.message)
            }
        }
    }

    @Test func callersJoinAReadAndGetItsAnswerForAMoment() {
        let world = World()
        let reads = SharedReads<Int>(lifeMs: 250) { world.nowMs }
        #expect(!reads.join(1, world.note))
        reads.read(1, world.note) { world.pending.append($0) }
        #expect(reads.join(1, world.note) && !reads.join(2, world.note))
        #expect(world.answers.isEmpty && world.pending.count == 1)
        world.pending[0](.success(Array("a".utf8)))
        #expect(world.answers == ["a", "a"])
        world.nowMs = 249
        #expect(reads.join(1, world.note) && world.answers.count == 3)
        world.nowMs = 250
        #expect(!reads.join(1, world.note), "it is too old")
    }

    @Test func aRefusalIsNotKept() {
        let world = World()
        let reads = SharedReads<Int>(lifeMs: 250) { world.nowMs }
        reads.read(1, world.note) { $0(.failure(Refusal(.unavailable, "no"))) }
        #expect(world.answers == ["no"] && !reads.join(1, world.note))
    }
}
