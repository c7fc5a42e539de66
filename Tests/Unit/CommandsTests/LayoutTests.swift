import Core
import Testing

@testable import Commands

/// Where a script's keys lie on tagged names: what spans slots there cannot run on a Redis Cluster.
@Suite struct LayoutTests {
    private static let keys = Keys(prefix: bytes("p:"), layout: .tagged)
    private static let policy = NamespacePolicy(
        subscribe: .anyone, publish: .anyone, logEventsMax: 10, logSeconds: 60, slow: .disconnect)
    private static let stamp = CommandCallBuilder.CallStamp(
        nowMs: 1_795_205_000_000, run: bytes("run"), epoch: bytes("e-1"), random: bytes("abcd"))

    /// Different ids for different arguments, so that two homes never meet by chance.
    private static func bound(_ descriptor: CommandDescriptor) -> BoundArguments {
        BoundArguments(
            values: descriptor.arguments.map { bytes("\($0.name)-1") },
            derived: descriptor.derived.map { bytes("\($0.name)-1") },
            resolved: descriptor.resolved.map { bytes("\($0.name)-1") }, actingUser: nil, operation: nil)
    }

    @Test func noBuiltInScriptSpansSlotsUnlessItSaysSo() throws {
        let catalogue = try everyPack.get().catalogue
        let all = catalogue.commands + catalogue.refreshes
        let policies = Dictionary(
            uniqueKeysWithValues: Set(all.flatMap { $0.homeTopics.map(\.namespace) }).map { ($0, LayoutTests.policy) })
        let builder = CommandCallBuilder(
            CommandSettings(
                keys: LayoutTests.keys, policies: policies, outbox: OutboxRoom(laneMax: 1_000, payerMax: 1_000),
                doneSeconds: 300, membersMax: 100,
                callsMax: 1, answerLimits: JSON.Limits(depthMax: 32, elementsMax: 1_000), answerBytesMax: 65_536,
                nowMs: { 5 }))
        let id = try #require(MessageID(bytes("op-1")))
        for descriptor in all {
            let operation = descriptor.home == nil ? nil : OperationID.named(id)
            let call = try #require(
                builder.call(
                    descriptor, LayoutTests.bound(descriptor), caller: service, operation: operation,
                    fence: descriptor.refresh == nil ? nil : 1, LayoutTests.stamp), "\(descriptor.name)")
            let slots = Set(call.keys.map { HashSlot.of($0) })
            #expect(
                (slots.count > 1) == descriptor.spansSlots, "\(descriptor.name): \(call.keys.map { text($0) ?? "" })")
            #expect(call.arguments[8] == bytes("p:{"))
        }
        let spanning = Set(all.filter(\.spansSlots).compactMap { $0.file.path.split(separator: "/").dropLast().last })
        #expect(spanning == ["messaging", "nearby", "queueup"])
    }

    @Test func statesHaveTheSlotOfTheirTopic() throws {
        let catalogue = try everyPack.get().catalogue
        #expect(catalogue.states.count > 3)
        for state in catalogue.states.values {
            let topic = try #require(Topic(namespace: bytes(state.namespace), id: bytes("42")))
            let names = state.keys.compactMap { key in
                key.template.key(LayoutTests.keys) { $0 == "id" ? Array(topic.id) : bytes("u1") }
            }
            #expect(names.count == state.keys.count)
            #expect(names.allSatisfy { HashSlot.of($0) == HashSlot.of(bytes("42")) }, "\(state.namespace)")
        }
    }
}
