import Core
import Service
import TestSupport
import Testing

@testable import Commands

/// Where a script's keys lie on tagged names: on a Redis Cluster each step has those of one slot.
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

    /// A step of a Redis Cluster reaches the keys of one slot.
    ///
    /// On one server a spanning script reaches all of its keys.
    @Test func everyBuiltInScriptRunsInOneSlotOfACluster() throws {
        let packs = ScriptLibrary.packs.keys.filter { $0 != "core" }.sorted()
        let library = try ScriptLibrary(
            packs: packs, directory: nil, namespaces: everyNamespace, reservedPaths: [], isSharded: true)
        let all = library.catalogue.commands + library.catalogue.refreshes
        let policies = Dictionary(
            uniqueKeysWithValues: Set(all.flatMap { $0.homeTopics.map(\.namespace) }).map { ($0, LayoutTests.policy) })
        let builder = CommandCallBuilder(
            CommandSettings(
                keys: LayoutTests.keys, policies: policies, outbox: OutboxRoom(laneMax: 1_000, payerMax: 1_000),
                doneSeconds: 300, membersMax: 100,
                callsMax: 1, answerLimits: JSON.Limits(depthMax: 32, elementsMax: 1_000), answerBytesMax: 65_536,
                nowMs: { 5 }))
        let id = try #require(MessageID(bytes("op-1")))
        var spanning: Set<String> = []
        for descriptor in all {
            let bound = LayoutTests.bound(descriptor)
            let operation = descriptor.home == nil ? nil : OperationID.named(id)
            let call = try #require(
                builder.call(
                    descriptor, bound, caller: service, operation: operation,
                    fence: descriptor.refresh == nil ? nil : 1, LayoutTests.stamp), "\(descriptor.name)")
            let slots = Set(call.keys.map { HashSlot.of($0) })
            #expect(slots.count < 2, "\(descriptor.name): \(call.keys.map { text($0) ?? "" })")
            #expect(call.arguments[8] == bytes("p:{"))
            if let (looked, _) = builder.looked(descriptor, bound) {
                #expect(Set(looked.map { HashSlot.of($0) }).count == 1, "\(descriptor.name)")
            }
            if descriptor.span != nil { spanning.insert(descriptor.file.pack) }
        }
        #expect(spanning == ["messaging", "nearby", "queueup"])
    }

    /// It would change half of its keys there, or be refused by Redis in the middle.
    @Test func anOperatorsScriptOfSeveralIdsIsRefusedOnACluster() throws {
        let folder = ProjectFiles.folder + "/Tests/Fixtures/apps/sixth_app"
        func library(isSharded: Bool) throws -> ScriptLibrary {
            try ScriptLibrary(
                packs: [], directory: folder, namespaces: everyNamespace + ["lot"], reservedPaths: [],
                isSharded: isSharded)
        }
        _ = try library(isSharded: false)
        let problem = #expect(throws: StartProblem.self) { _ = try library(isSharded: true) }
        #expect(problem?.description.contains("take_seat.lua changes keys of several ids in one step") == true)
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
