import Core
import Rights
import Service
import TestSupport
import Testing
import Transport

@testable import Gateway
@testable import Operations

@Suite struct TimestampTests {
    @Test(arguments: [
        (0, "1970-01-01T00:00:00.000Z"), (1, "1970-01-01T00:00:00.001Z"), (86_399_999, "1970-01-01T23:59:59.999Z"),
        (951_782_400_000, "2000-02-29T00:00:00.000Z"), (951_868_800_000, "2000-03-01T00:00:00.000Z"),
        (1_709_164_800_000, "2024-02-29T00:00:00.000Z"), (1_709_251_199_999, "2024-02-29T23:59:59.999Z"),
        (1_709_251_200_000, "2024-03-01T00:00:00.000Z"), (1_740_787_199_999, "2025-02-28T23:59:59.999Z"),
        (1_740_787_200_000, "2025-03-01T00:00:00.000Z"), (1_735_689_599_999, "2024-12-31T23:59:59.999Z"),
        (1_735_689_600_000, "2025-01-01T00:00:00.000Z"), (1_767_225_599_000, "2025-12-31T23:59:59.000Z"),
        (4_107_542_399_000, "2100-02-28T23:59:59.000Z"), (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
        (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
    ])
    func wallTimeIsWrittenAsRFC3339(_ wallMs: Int, _ text: String) {
        #expect(Timestamp.text(wallMs: wallMs) == text)
    }

    @Test func everyDayOfFourHundredYearsFollowsTheOneBefore() {
        var (year, month, day) = (1970, 1, 1)
        for number in 0..<146_097 {
            func two(_ value: Int) -> String { value < 10 ? "0\(value)" : "\(value)" }
            let text = Timestamp.text(wallMs: number * 86_400_000)
            guard text == "\(year)-\(two(month))-\(two(day))T00:00:00.000Z" else {
                Issue.record("day \(number) is not \(text)")
                return
            }
            let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
            let length = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]
            day += 1
            if day > length { (month, day) = (month + 1, 1) }
            if month > 12 { (year, month) = (year + 1, 1) }
        }
    }
}

@Suite struct MetricsPageTests {
    @Test func theTextFormatIsPrometheus() {
        var page = MetricsPage()
        page.gauge("a", "What a is.", -3)
        page.counter("b_total", "What b is.", 7)
        page.counter("c_total", "By kind.", [("kind", "x", 1), ("kind", "y", 0)])
        page.histogram("d_seconds", "Times.", boundsUs: [1_000, 2_000_000], counts: [2, 3, 4], sumUs: 1_500_000)
        let expected = """
            # HELP a What a is.
            # TYPE a gauge
            a -3
            # HELP b_total What b is.
            # TYPE b_total counter
            b_total 7
            # HELP c_total By kind.
            # TYPE c_total counter
            c_total{kind="x"} 1
            c_total{kind="y"} 0
            # HELP d_seconds Times.
            # TYPE d_seconds histogram
            d_seconds_bucket{le="0.001"} 2
            d_seconds_bucket{le="2.0"} 5
            d_seconds_bucket{le="+Inf"} 9
            d_seconds_sum 1.5
            d_seconds_count 9

            """
        #expect(String(decoding: page.bytes, as: UTF8.self) == expected)
    }
}

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

@Suite struct HeapTrimTests {
    @Test func theHeapIsTrimmedAfterASurgeAndNotDuringOne() {
        var trim = HeapTrim()
        // Connections, handshakes, and whether it is due.
        let looks = [
            (0, 0, false), (1_000, 1_000, false), (1_500, 1_500, false), (1_500, 1_500, true), (1_500, 1_500, false),
            (1_200, 1_500, false), (1_100, 1_501, true), (900, 1_502, false), (10, 1_503, true), (0, 1_503, false),
        ]
        for (index, look) in looks.enumerated() {
            let isDue = trim.isDue(held: look.0, handshakes: look.1)
            #expect(isDue == look.2, "look \(index)")
        }
    }

    /// The heap was trimmed while what had belonged to a crowd of 100,000 topics was still there.
    ///
    /// More than 50 MiB that were free a moment later stayed with the process for ever.
    @Test func itIsTrimmedOnceMoreWhenWhatWentWithACrowdIsFreed() {
        var trim = HeapTrim()
        let looks = [1_000] + Array(repeating: 0, count: 30)
        let due = looks.indices.filter { trim.isDue(held: looks[$0], handshakes: 0) }
        #expect(due == [1, 10], "when they have gone, and once more seconds later")
    }
}
