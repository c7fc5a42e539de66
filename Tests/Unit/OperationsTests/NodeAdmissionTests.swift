import Core
import Testing

@testable import Operations

@Suite struct NodeAdmissionTests {
    static func admission(_ change: (inout Limits) -> Void) -> NodeAdmission {
        var limits = Limits()
        change(&limits)
        return NodeAdmission(limits: limits, isShared: { $0 == IPAddress(10, 0, 0, 1) })
    }

    static func address(_ last: UInt8) -> IPAddress { IPAddress(192, 0, 2, last) }
    static let proxy = IPAddress(10, 0, 0, 1)

    @Test func allConnectionsAreLimited() {
        let admission = NodeAdmissionTests.admission { $0.connectionsMax = 3 }
        for last in 1...3 { #expect(admission.admit(NodeAdmissionTests.address(UInt8(last)))) }
        #expect(!admission.admit(NodeAdmissionTests.address(4)))
        #expect(admission.figures == (3, 3, 1))
        admission.release(NodeAdmissionTests.address(1), wasEstablished: false)
        #expect(admission.admit(NodeAdmissionTests.address(4)))
        #expect(admission.figures == (3, 3, 1))
    }

    @Test func anAddressIsLimitedEstablishedOrNot() {
        let admission = NodeAdmissionTests.admission { $0.connectionsPerAddressMax = 2 }
        let (one, two) = (NodeAdmissionTests.address(1), NodeAdmissionTests.address(2))
        #expect(admission.admit(one))
        admission.established(one)
        #expect(admission.admit(one))
        #expect(!admission.admit(one))
        #expect(admission.admit(two))
        admission.release(one, wasEstablished: true)
        #expect(admission.admit(one))
        #expect(!admission.admit(one))
    }

    @Test func theUnauthenticatedAreLimitedTogetherAndByAddress() {
        let admission = NodeAdmissionTests.admission {
            $0.unauthenticatedMax = 3
            $0.unauthenticatedPerAddressMax = 2
        }
        let (one, two) = (NodeAdmissionTests.address(1), NodeAdmissionTests.address(2))
        #expect(admission.admit(one) && admission.admit(one))
        #expect(!admission.admit(one), "two of one address")
        #expect(admission.admit(two))
        #expect(!admission.admit(two), "three together")
        admission.established(one)
        #expect(admission.figures.unauthenticated == 2)
        #expect(admission.admit(two))
        #expect(!admission.admit(one))
        admission.release(two, wasEstablished: false)
        #expect(admission.admit(one))
        #expect(!admission.admit(one))
    }

    @Test func anAddressConnectsAtALimitedRate() {
        let admission = NodeAdmissionTests.admission { $0.connectsPerAddressPerSecond = 1 }
        let admitted = (0..<20).count { _ in
            let isAdmitted = admission.admit(NodeAdmissionTests.address(1))
            if isAdmitted { admission.release(NodeAdmissionTests.address(1), wasEstablished: false) }
            return isAdmitted
        }
        #expect((4...6).contains(admitted), "a burst of four times the rate")
        #expect(admission.admit(NodeAdmissionTests.address(2)))
    }

    @Test func networksOfIPv6CountAsOneAndUnixSocketsNotAtAll() throws {
        func six(_ text: String) throws -> IPAddress { try #require(IPAddress(version6: text.utf8)) }
        let admission = NodeAdmissionTests.admission { $0.connectionsPerAddressMax = 1 }
        #expect(try admission.admit(six("2001:db8::1")))
        #expect(try !admission.admit(six("2001:db8::2")))
        #expect(try admission.admit(six("2001:db8:0:1::2")))
        for _ in 0..<5 { #expect(admission.admit(nil)) }
    }

    @Test func aProxyHasNoLimitAndItsClientsHave() {
        let admission = NodeAdmissionTests.admission { $0.connectionsPerAddressMax = 1 }
        let (one, proxy) = (NodeAdmissionTests.address(1), NodeAdmissionTests.proxy)
        for _ in 0..<3 { #expect(admission.admit(proxy)) }
        #expect(admission.move(from: proxy, to: one, wasEstablished: false))
        #expect(!admission.move(from: proxy, to: one, wasEstablished: false))
        #expect(admission.figures == (3, 3, 1))
        admission.established(one)
        admission.release(one, wasEstablished: true)
        #expect(admission.move(from: proxy, to: one, wasEstablished: true))
        #expect(admission.figures == (2, 2, 1))
    }

    /// Threads that admit and release leave nothing behind.
    @Test func nothingIsLeftAfterEverybodyHasGone() async {
        let admission = NodeAdmissionTests.admission { $0.connectsPerAddressPerSecond = 1_000_000 }
        await withTaskGroup(of: Void.self) { group in
            for worker in 0..<4 {
                group.addTask {
                    for step in 0..<2_000 {
                        let address = NodeAdmissionTests.address(UInt8(step % 3))
                        guard admission.admit(address) else { continue }
                        let isEstablished = (step + worker) % 2 == 0
                        if isEstablished { admission.established(address) }
                        admission.release(address, wasEstablished: isEstablished)
                    }
                }
            }
        }
        #expect(admission.figures == (0, 0, 0))
    }
}
