/// A command that the demo calls, as a backend would.
struct DemoCall: Equatable, Sendable {
    let command: String
    /// The arguments' texts by name; numbers, booleans and objects as JSON.
    let arguments: [String: String]
}

/// The next action of the demo, and its time.
struct DemoStep: Equatable, Sendable {
    /// The action of a step.
    enum Action: Equatable, Sendable {
        /// Call a command.
        case call(DemoCall)
        /// Publish the time in the demo.
        case clock(DemoClock.Reading)
    }

    /// Milliseconds since the demo began; never before the previous step.
    let atMs: Int
    let action: Action
}
