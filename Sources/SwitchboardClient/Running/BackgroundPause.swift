internal import Foundation

/// The phases of a scene that matter to a client.
enum SceneStep: Sendable {
    /// The scene is in the foreground, and takes input.
    case active
    /// The scene is not visible.
    case background
}

extension SwitchboardClient {
    /// Tell the client when the app goes to the background and will be frozen: unanswered calls have some seconds, then
    /// the connection ends.
    ///
    /// A frozen app cannot answer the gateway, which would count it as connected for a while. So the connection ends
    /// before. `enteredForeground` makes another one, on which each topic resumes at its position. Cancel the task when
    /// the app returns earlier: the connection then stays.
    ///
    /// - Parameter seconds: the longest wait for answers. Default: 20, less than iOS gives an app that asks for time.
    @MainActor public func pauseInBackground(within seconds: Double = 20) async {
        enteredBackground()
        if !pendingCalls.isEmpty { await answers(within: seconds) }
        // On the main actor, as the app's return is: neither comes between the question and the end.
        if !Task.isCancelled { suspend() }
    }

    /// Waits until no call is unanswered, the time has passed, or the task is cancelled.
    private func answers(within seconds: Double) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { for await status in self.status where status.pendingCalls == 0 { return } }
            group.addTask {
                // lint:allow The system's limit is a time.
                try? await Task.sleep(for: .seconds(min(max(seconds, 0), 3_600)))  // lint:allow
            }
            await group.next()
            group.cancelAll()
        }
    }

    /// Follows a step of one of the app's scenes; the app is in the background when all of its scenes are.
    ///
    /// `pause` runs in the background, in a task that the next active scene cancels. A `nil` step is a scene that is
    /// visible without input: it changes nothing but the count.
    @MainActor func follow(_ step: SceneStep?, of scene: UUID, pause: @escaping @MainActor () async -> Void) async {
        let isInBackground = engine.state.with { state in
            if step == .background { state.scenes.remove(scene) } else { state.scenes.insert(scene) }
            return state.scenes.isEmpty
        }
        if step == .active {
            engine.state.with { $0.pausing }?.cancel()
            enteredForeground()
        } else if isInBackground {
            let pausing = Task { await pause() }
            engine.state.with { $0.pausing = pausing }
            await pausing.value
        }
    }
}
