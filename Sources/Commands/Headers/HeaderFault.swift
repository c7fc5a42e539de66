/// Why the value of one tag cannot be read; a sentence without place, which the reader of the header adds.
struct HeaderFault: Error, Equatable {
    let message: String

    init(_ message: String) {
        self.message = message
    }
}
