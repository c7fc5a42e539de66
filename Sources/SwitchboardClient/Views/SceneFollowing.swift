// Linux checks the types against a stand-in for SwiftUI (scripts/client-package.sh).
#if canImport(SwiftUI)
    internal import Foundation
    public import SwiftUI

    extension SwitchboardClient {
        /// Follows the phase of one of the app's scenes.
        ///
        /// On macOS, which does not freeze apps, the connection stays.
        @MainActor func follow(_ phase: ScenePhase, of scene: UUID) async {
            let step: SceneStep? =
                switch phase {
                case .active: .active
                case .background: .background
                default: nil
                }
            #if os(macOS)
                await follow(step, of: scene) { self.enteredBackground() }
            #else
                await follow(step, of: scene) { await self.pauseWithSystemTime() }
            #endif
        }

        #if !os(macOS)
            /// Pauses while the system keeps the app awake; at once when it no longer does.
            @MainActor private func pauseWithSystemTime() async {
                let pausing = Task { await pauseInBackground() }
                let time = SystemTime { pausing.cancel() }
                await withTaskCancellationHandler {
                    await pausing.value
                } onCancel: {
                    pausing.cancel()
                }
                // The system's end cancels the wait, too, and then no scene has returned.
                if time.hasExpired, engine.state.with({ $0.scenes.isEmpty }) { suspend() }
                time.end()
            }
        #endif
    }

    extension View {
        /// Ends a client's connection in the background, and resumes it in the foreground: for the root view of a scene.
        ///
        /// In the background unanswered calls have up to 20 seconds, then the connection ends before the system freezes the
        /// app. In the foreground each topic resumes at its position. An app with several scenes pauses with the last one.
        public func pausesInBackground(_ client: SwitchboardClient) -> some View {
            modifier(SceneFollowing(client: client))
        }
    }

    /// Reports each phase of its scene to a client.
    private struct SceneFollowing: ViewModifier {
        /// The app's client.
        let client: SwitchboardClient
        @Environment(\.scenePhase) private var phase
        @State private var scene = UUID()

        /// The view, with a task for each phase.
        func body(content: Content) -> some View { content.task(id: phase) { await client.follow(phase, of: scene) } }
    }

    #if !os(macOS)
        /// Time for an app in the background, which the system may end early.
        private final class SystemTime: Sendable {
            private struct State: Sendable {
                var isOver = false
                var hasExpired = false
            }

            private let state = Locked(State())
            private let ended = NSCondition()

            /// Asks the system for time; `expired` is called when there is none, or no more.
            init(_ expired: @escaping @Sendable () -> Void) {
                ProcessInfo.processInfo.performExpiringActivity(withReason: "Unanswered calls") { [self] isExpired in
                    if isExpired {
                        state.with { $0.hasExpired = true }
                        expired()
                    } else {
                        // The time lasts as long as this block, which has a thread of its own.
                        ended.lock()
                        while !state.with({ $0.isOver }) { ended.wait() }
                        ended.unlock()
                    }
                }
            }

            /// Whether the system gave no time, or took it back.
            var hasExpired: Bool { state.with { $0.hasExpired } }

            /// Returns the time to the system.
            func end() {
                ended.lock()
                state.with { $0.isOver = true }
                ended.broadcast()
                ended.unlock()
            }
        }
    #endif
#endif
