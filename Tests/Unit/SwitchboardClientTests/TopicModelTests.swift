#if canImport(Observation)
    import Foundation
    import Testing

    @testable import SwitchboardClient

    /// The content of a room's screen, for tests.
    private struct Room: TopicContent {
        var names: [String] = []

        mutating func begin(with state: Playlist) { names = state.queue }

        mutating func apply(_ event: RoomEvent) {
            switch event {
            case .added(let track): names.append(track.name)
            case .cleared: names = []
            }
        }
    }

    /// A topic without states, for tests.
    private struct Lines: TopicContent {
        var names: [String] = []

        mutating func apply(_ event: RoomEvent) {
            if case .added(let track) = event { names.append(track.name) }
        }
    }

    /// The model for a screen.
    @MainActor struct TopicModelTests {
        /// Waits until the condition holds, which the observed properties of a model decide.
        private func until(_ condition: @escaping @MainActor () -> Bool) async throws {
            let deadline = ContinuousClock.now.advanced(by: .seconds(20))
            while !condition() {
                try #require(ContinuousClock.now < deadline)
                await Task.yield()
            }
        }

        private func run<Content>(_ model: TopicModel<Content>) -> Task<Void, Never> { Task { await model.run() } }

        @Test("state and events become content, and a cut is made good from the position")
        func follows() async throws {
            let gateway = ScriptedGateway(state: #"{"queue":["a"]}"#)
            let client = gateway.client()
            let model = TopicModel<Room>(client, "dj:1")
            let running = run(model)
            try await until { model.isLive }
            #expect(model.content.names == ["a"])
            gateway.publish("track:added", #"{"name":"b"}"#)
            try await until { model.content.names == ["a", "b"] }
            gateway.cut()
            gateway.publish("track:added", #"{"name":"c"}"#)
            try await until { model.content.names == ["a", "b", "c"] && model.isLive }
            #expect(gateway.state.with { $0.subscribes.last?["since"]?["offset"] } == 1)
            running.cancel()
            await running.value
            #expect(!model.isLive && model.content.names == ["a", "b", "c"] && !model.hasMissedEvents)
        }

        @Test("a gap in a namespace with states brings the state")
        func gap() async throws {
            let gateway = ScriptedGateway(state: #"{"queue":["a"]}"#)
            let client = gateway.client()
            let model = TopicModel<Room>(client, "dj:1")
            let running = run(model)
            try await until { model.isLive }
            gateway.state.with { state in
                state.state = #"{"queue":["x","y"]}"#
                state.offset = 9
            }
            gateway.say(
                #"{"event":"gap","topic":"dj:1","data":{"topic":"dj:1","reason":"missed","epoch":"k","offset":9}}"#)
            try await until { model.content.names == ["x", "y"] }
            #expect(!model.hasMissedEvents)
            running.cancel()
            await running.value
        }

        @Test("without states the model says that events are missing, and goes on from its position in a later run")
        func withoutState() async throws {
            let gateway = ScriptedGateway()
            let client = gateway.client()
            let model = TopicModel<Lines>(client, "dj:1")
            var running = run(model)
            try await until { model.isLive }
            gateway.publish("track:added", #"{"name":"a"}"#)
            try await until { model.content.names == ["a"] }
            running.cancel()
            await running.value
            // Once the topic is left, a later run asks for what it missed.
            try await until { client.engine.state.with { $0.machine.topics.isEmpty } }
            gateway.publish("track:added", #"{"name":"b"}"#)
            running = run(model)
            try await until { model.content.names == ["a", "b"] }
            #expect(!model.hasMissedEvents)
            gateway.say(
                #"{"event":"gap","topic":"dj:1","data":{"topic":"dj:1","reason":"missed","epoch":"k","offset":5}}"#)
            try await until { model.hasMissedEvents }
            running.cancel()
            await running.value
        }

        @Test("a refused topic is the model's error, and a later run clears it")
        func refused() async throws {
            let gateway = ScriptedGateway(state: #"{"queue":[]}"#)
            gateway.state.with { $0.refusal = "forbidden" }
            let client = gateway.client()
            let model = TopicModel<Room>(client, "dj:1")
            await model.run()
            #expect(model.error?.code == .server("forbidden") && !model.isLive)
            gateway.state.with { $0.refusal = nil }
            let running = run(model)
            try await until { model.isLive }
            #expect(model.error == nil)
            running.cancel()
            await running.value
        }

        @Test("data of another form leaves the content as it is, and is shown")
        func undecodable() async throws {
            let gateway = ScriptedGateway(state: #"{"queue":["a"]}"#)
            let client = gateway.client { $0.fault = { _ in } }
            let model = TopicModel<Room>(client, "dj:1")
            let running = run(model)
            try await until { model.isLive }
            gateway.publish("track:added", "{}")
            gateway.publish("track:added", #"{"name":"b"}"#)
            try await until { model.content.names == ["a", "b"] }
            #expect(model.undecodable?.code == .undecodable)
            running.cancel()
            await running.value
        }

        @Test("in the background the connection ends after the answers, and comes back in the foreground")
        func background() async throws {
            let gateway = ScriptedGateway(state: #"{"queue":["a"]}"#)
            let client = gateway.client()
            let model = TopicModel<Room>(client, "dj:1")
            let running = run(model)
            try await until { model.isLive }
            gateway.state.with { $0.isMute = true }
            let call = Task { try await client.call("vote", [1], id: "one") }
            try await until { client.pendingCalls.count == 1 }
            let pausing = Task { await client.pauseInBackground(within: 600) }
            try await until { client.engine.state.with { $0.statusReaders.count == 1 } }
            #expect(client.currentStatus.phase == .open, "the call has no answer yet")
            gateway.say(#"{"event":"ack","data":{},"ref":"one"}"#)
            gateway.state.with { $0.isMute = false }
            await pausing.value
            try await call.value
            #expect(client.currentStatus.phase == .suspended)
            gateway.publish("track:added", #"{"name":"b"}"#)
            client.enteredForeground()
            try await until { model.content.names == ["a", "b"] && model.isLive }
            running.cancel()
            await running.value
        }

        @Test("an app pauses with the last of its scenes, and the first that is back ends the pause")
        func scenes() async throws {
            let gateway = ScriptedGateway()
            let client = gateway.client()
            client.start()
            try await until { client.currentStatus.isReady }
            let (one, other) = (UUID(), UUID())
            await client.follow(.active, of: one) {}
            await client.follow(nil, of: other) {}
            await client.follow(.background, of: one) { Issue.record("another scene is visible") }
            #expect(client.currentStatus.isReady)
            gateway.state.with { $0.isMute = true }
            let call = Task { try? await client.call("vote", [1]) }
            try await until { client.pendingCalls.count == 1 }
            let pausing = Task { await client.follow(.background, of: other) { await client.pauseInBackground() } }
            try await until { client.engine.state.with { $0.statusReaders.count == 1 } }
            await client.follow(.active, of: one) {}
            await pausing.value
            #expect(client.currentStatus.isReady, "it was back before its time had passed")
            client.stop()
            await call.value
        }

        @Test(
            "an app that returns before its time has passed keeps its connection; a silent gateway costs the time only")
        func returns() async throws {
            let gateway = ScriptedGateway()
            let client = gateway.client()
            client.start()
            gateway.state.with { $0.isMute = true }
            let call = Task { try await client.call("vote", [1]) }
            try await until { client.pendingCalls.count == 1 && client.currentStatus.isReady }
            let early = Task { await client.pauseInBackground(within: 600) }
            try await until { client.engine.state.with { $0.statusReaders.count == 1 } }
            early.cancel()
            await early.value
            #expect(client.currentStatus.phase == .open)
            await client.pauseInBackground(within: 0.01)
            #expect(client.currentStatus.phase == .suspended)
            // Without a token an id counts on one connection only.
            let error = await #expect(throws: SwitchboardError.self) { try await call.value }
            #expect(error?.code == .uncertain)
        }
    }
#endif
