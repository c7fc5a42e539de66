/// The lines of `INFO`, by name.
struct InfoFields {
    private var fields: [String: ArraySlice<UInt8>] = [:]
    /// The most lines that are kept: more than any server sends.
    private static let fieldsMax = 1_024

    /// Reads `name:value` lines; headings and lines of another form are ignored.
    init(_ text: [UInt8]) {
        for line in text.split(separator: 0x0a) where line.first != UInt8(ascii: "#") {
            let line = line.last == 0x0d ? line.dropLast() : line
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")), fields.count < InfoFields.fieldsMax else {
                continue
            }
            fields[String(decoding: line[..<colon], as: UTF8.self)] = line[(colon + 1)...]
        }
    }

    /// The value of a line; `nil` when there is none.
    subscript(_ name: String) -> ArraySlice<UInt8>? { fields[name] }
}
