import Core

/// What is published: `{"m":"SSSSSSSSSS:TTTTTTTTTTTTTTTT","p":"xxx..."}`, a sequence number per topic and the time at
/// which it was due, microseconds of CLOCK_MONOTONIC.
enum Message {
    /// Bytes of a message without padding.
    static let bytesMin = 42

    /// The data of exactly so many bytes, at least ``bytesMin``.
    static func data(sequence: Int, dueUs: Int, bytes: Int) -> [UInt8] {
        var data: [UInt8] = []
        data.reserveCapacity(bytes)
        data.append(text: "{\"m\":\"" as StaticString)
        append(sequence, digits: 10, to: &data)
        data.append(UInt8(ascii: ":"))
        append(dueUs, digits: 16, to: &data)
        data.append(text: "\",\"p\":\"" as StaticString)
        data.append(contentsOf: repeatElement(UInt8(ascii: "x"), count: max(bytes - bytesMin, 0)))
        data.append(text: "\"}" as StaticString)
        return data
    }

    private static func append(_ number: Int, digits: Int, to data: inout [UInt8]) {
        var rest = number
        let start = data.count
        data.append(contentsOf: repeatElement(UInt8(ascii: "0"), count: digits))
        for index in (start..<data.count).reversed() {
            data[index] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
    }
}
