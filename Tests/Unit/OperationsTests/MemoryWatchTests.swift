import Testing

@testable import Operations

@Suite struct MemoryWatchTests {
    @Test func shortBeyondTheBoundUntilNinetyFivePercentOfIt() {
        let bound = 1_000_000
        func isShort(_ bytes: Int, _ was: Bool) -> Bool {
            MemoryWatch.isShort(bytes, boundBytes: bound, wasShort: was)
        }
        #expect(!isShort(bound, false))
        #expect(isShort(bound + 1, false))
        #expect(isShort(960_000, true))
        #expect(!isShort(950_000, true))
    }

    @Test func itReadsThisProcess() {
        let watch = MemoryWatch(boundBytes: 1)
        #expect(watch.look())
        #expect(watch.isShort && watch.residentBytes > 1_000_000)
        #expect(!watch.look(), "nothing has changed")
    }

    @Test func aBoundIsTakenAsItIsAndZeroMeansMostOfTheMachine() {
        #expect(MemoryWatch.bound(4_096) == 4_096)
        #expect(MemoryWatch.bound(0) > 100_000_000)
    }

    @Test(arguments: [
        ("0::/a/b", ["/sys/fs/cgroup/a/b/memory.max", "/sys/fs/cgroup/a/memory.max", "/sys/fs/cgroup/memory.max"]),
        ("0::/", ["/sys/fs/cgroup/memory.max"]),
        (
            "4:cpu,memory:/x",
            ["/sys/fs/cgroup/memory/x/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.limit_in_bytes"]
        ),
        ("3:cpuset:/x", []), ("", []), ("nonsense", []),
    ])
    func boundsStandInTheGroupAndItsParents(_ transport: String, _ files: [String]) {
        #expect(MemoryWatch.boundFiles(transport) == files)
    }
}
