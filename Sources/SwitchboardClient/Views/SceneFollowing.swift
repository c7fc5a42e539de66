// Linux checks the types against a stand-in for SwiftUI (scripts/client-package.sh).
#if canImport(SwiftUI)
    internal import Foundation
    public import SwiftUI

    extension SwitchboardClient {
        /// Tells the client the phase of the app's scene; cancel the task at the next phase.
        ///
        /// In the foreground the connection is checked, or replaced, and topics resume. In the background unanswered
        /// calls have up to 20 seconds, then the connection ends before the system freezes the app. On macOS, which
        /// does not freeze apps, the connection stays. The modifier `pausesInBackground` calls it for each phase.
        @MainActor public func follow(_ phase: ScenePhase) async {
            switch phase {
            case .active: enteredForeground()
            case .background:
                #if os(macOS)
                    enteredBackground()
                #else
                    await pauseWithSystemTime()
                #endif
            default: break
            }
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
                // The system's end cancels the wait, too, and then the app has not returned.
                if !Task.isCancelled, time.hasExpired { suspend() }
                time.end()
            }
        #endif
    }

    extension View {
        /// Ends a client's connection in the background, and resumes it in the foreground: for the root view of an app.
        public func pausesInBackground(_ client: SwitchboardClient) -> some View {
            modifier(SceneFollowing(client: client))
        }
    }

    /// Reports each phase of its scene to a client.
    private struct SceneFollowing: ViewModifier {
        /// The app's client.
        let client: SwitchboardClient
        @Environment(\.scenePhase) private var phase

        /// The view, with a task for each phase; a new phase cancels the former task.
        func body(content: Content) -> some View { content.task(id: phase) { await client.follow(phase) } }
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
