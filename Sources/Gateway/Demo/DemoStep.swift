/// A command that the demo calls, as a backend would.
struct DemoCall: Equatable, Sendable {
    let command: String
    /// The arguments' texts by name; numbers, booleans and objects as JSON.
    let arguments: [String: String]
}

/// What the demo does next, and when.
struct DemoStep: Equatable, Sendable {
    /// What is done.
    enum Action: Equatable, Sendable {
        /// Call a command.
        case call(DemoCall)
        /// Tell what time it is in the demo.
        case clock(DemoClock.Reading)
    }

    /// Milliseconds since the demo began; never before the step before.
    let atMs: Int
    let action: Action
}
