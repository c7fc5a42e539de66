import Testing

@testable import Core

@Suite struct LimitsTests {
    private let limits = Limits()

    /// Limits as they are stored: a group for each struct, those of couriers and workers behind those for all.
    private func stored(_ limits: Limits) -> [[(name: String, value: Int)]] {
        func numbers(_ group: Any) -> [(name: String, value: Int)] {
            Mirror(reflecting: group).children.compactMap { child in
                guard let name = child.label, let value = child.value as? Int else { return nil }
                return (name, value)
            }
        }
        return [numbers(limits)] + Mirror(reflecting: limits).children.map { numbers($0.value) }.filter { !$0.isEmpty }
    }

    @Test func everyStoredLimitIsInTheTableUnderItsName() {
        let groups = stored(limits).map { $0.map(\.name) }
        let named = Limits.table.map(\.name)
        #expect(groups.count == 3 && groups.allSatisfy { $0.count > 10 })
        #expect(Set(named).count == named.count)
        #expect(groups.flatMap(\.self).sorted() == named.sorted())
        for group in groups {
            #expect(named.filter(Set(group).contains) == group, "the table follows the order of the struct")
        }
    }

    @Test func everyNameSetsItsOwnLimitAndNoOther() {
        for entry in Limits.table {
            var changed = limits
            changed[keyPath: entry.path] &+= 1
            let different = zip(stored(limits).flatMap(\.self), stored(changed).flatMap(\.self)).filter {
                $0.value != $1.value
            }
            #expect(different.map(\.0.name) == [entry.name])
        }
    }

    @Test func everyDefaultIsWithinItsRange() {
        for entry in Limits.table {
            #expect(entry.range.contains(limits[keyPath: entry.path]), "\(entry.name)")
            #expect(entry.range.lowerBound >= 0, "\(entry.name)")
            // Room for sums and for milliseconds turned into nanoseconds.
            #expect(entry.range.upperBound <= 1 << 40, "\(entry.name)")
        }
    }

    @Test func jsonDepthCannotBeSetBeyondTheStack() {
        #expect(Limits.table.first { $0.name == "jsonDepthMax" }?.range == 1...64)
        #expect(limits.json.depthMax == limits.jsonDepthMax && limits.json.elementsMax == limits.jsonElementsMax)
    }

    @Test func defaultsAgreeWithOneAnother() {
        #expect(limits.pingMs < 60_000, "below nginx's read timeout")
        #expect(limits.pingMs + limits.pongMs < 60_000)
        #expect(limits.pongMs < limits.pingMs, "one ping is outstanding at a time")
        #expect(limits.redisBackOffMinMs <= limits.redisBackOffMaxMs)
        #expect(limits.redisProbeMs < limits.redisProbeTimeoutMs)
        #expect(limits.redisConnectMs <= limits.redisCallMs)
        #expect(limits.redisCallMs < limits.redisStallMs, "a call fails alone before its link is doubted")
        #expect(limits.drainGraceMs < limits.drainMs)
        #expect(limits.unauthenticatedMax <= limits.connectionsMax)
        #expect(limits.unauthenticatedPerAddressMax <= limits.connectionsPerAddressMax)
        // Ten addresses could take every place of a node.
        #expect(limits.unauthenticatedPerAddressMax * 32 <= limits.unauthenticatedMax)
        #expect(limits.anonymousBodyBytesMax <= limits.bodyBytesMax)
        #expect(limits.connectionsPerAddressMax <= limits.connectionsMax)
        #expect(limits.requestLineBytesMax < limits.headBytesMax)
        #expect(limits.tokenBytesMax < limits.headBytesMax, "a token fits into a head")
        #expect(limits.tokenBytesMax < limits.inboundMessageBytesMax)
        #expect(limits.publishBytesMax <= limits.inboundMessageBytesMax)
        #expect(limits.publishBytesMax <= limits.bodyBytesMax)
        #expect(limits.publishBytesMax < limits.outboundBytesMax, "one event never overflows a queue")
        #expect(limits.outboundBytesMax <= limits.outboundTotalBytesMax)
        #expect(limits.subscribeBatchMax <= limits.topicsPerConnectionMax)
        #expect(
            limits.recoveryBytesMax + limits.recoveryEventsMax * 512 < limits.redisReplyBytesMax,
            "a recovery fits a reply")
        #expect(limits.logReadsMax * 2 <= limits.redisInFlightMax, "publishes find room beside reads")
        #expect(limits.tokenLeewaySeconds * 1_000 < limits.tokenWarningMs)
        #expect(limits.topicLingerMs >= 1_000)
    }
}
