/// The reason why the value of one tag cannot be read: a sentence without the line, which ``ScriptHeader`` adds.
struct HeaderFault: Error, Equatable {
    let message: String

    init(_ message: String) {
        self.message = message
    }
}
