import Core

/// The published data: `{"m":"SSSSSSSSSS:TTTTTTTTTTTTTTTT","p":"..."}`.
///
/// It holds a sequence number per topic, the due time in microseconds of CLOCK_MONOTONIC, and text that compresses like
/// the events of apps.
enum Message {
    /// Bytes of a message without padding.
    static let bytesMin = 42

    /// The data of exactly `bytes` bytes, at least ``bytesMin``.
    static func data(sequence: Int, dueUs: Int, bytes: Int) -> [UInt8] {
        var data: [UInt8] = []
        data.reserveCapacity(bytes)
        data.append(text: "{\"m\":\"" as StaticString)
        append(sequence, digits: 10, to: &data)
        data.append(UInt8(ascii: ":"))
        append(dueUs, digits: 16, to: &data)
        data.append(text: "\",\"p\":\"" as StaticString)
        let padding = max(bytes - bytesMin, 0)
        let start = sequence &* 7_919 % (text.count - padding)
        data.append(contentsOf: text[start..<start + padding])
        data.append(text: "\"}" as StaticString)
        return data
    }

    /// People in a queue, without JSON's special characters; the same in every run, and twice as long as the longest
    /// message.
    private static let text: [UInt8] = {
        let names = ["Anna", "Boris", "Chen", "Dana", "Emil", "Farah", "Goran", "Hedda"]
        var text: [UInt8] = []
        var random: UInt64 = 1
        while text.count < 131_072 {
            random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            text.append(text: "userId:user-\(random >> 40),name:\(names[Int(random >> 36 & 7)]),")
            text.append(text: "place:\(random >> 30 & 63),etaSeconds:\(random >> 20 & 4_095);")
        }
        return text
    }()

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
