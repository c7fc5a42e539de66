import Core

/// Writes the fields of one record.
enum EventStreamRecord {
    /// A record of an event: its name, its data on one line, and `id` when given.
    ///
    /// A line break in JSON occurs between values only, and becomes a space: the end of the line ends a record's field.
    static func bytes(event: [UInt8], id: [UInt8]?, data: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(24 + event.count + data.count + (id.map { $0.count + 5 } ?? 0))
        if let id { append(id: id, to: &text) }
        text.append(text: "event: ")
        text.append(contentsOf: event)
        text.append(text: "\ndata: ")
        let start = text.count
        text.append(contentsOf: data)
        for index in start..<text.count where text[index] == 0x0a || text[index] == 0x0d { text[index] = 0x20 }
        text.append(text: "\n\n")
        return text
    }

    /// The field `id`, which belongs to the record whose other fields follow.
    static func append(id: [UInt8], to text: inout [UInt8]) {
        text.append(text: "id: ")
        text.append(contentsOf: id)
        text.append(text: "\n")
    }
}
