/// The reason why the value of one tag cannot be read: a sentence without the line, which ``ScriptHeader`` adds.
struct HeaderFault: Error, Equatable {
    let message: String
    /// The number of lines between the tag and the mistake, in a value of several lines.
    let linesBelow: Int

    init(_ message: String, linesBelow: Int = 0) {
        self.message = message
        self.linesBelow = linesBelow
    }
}
