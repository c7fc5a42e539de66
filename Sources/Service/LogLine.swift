import Configuration
import Core

/// One line of a log as bytes, its end included: `key=value` text or JSON.
///
/// Values are escaped, so that no client can forge a line. Pure.
enum LogLine {
    /// A line with a time and fields; `head` are the fields that every line of the log has.
    static func bytes(
        _ format: LogFormat, wallMs: Int, head: [(String, String)], _ fields: [(String, String)]
    ) -> [UInt8] {
        var line: [UInt8] = []
        let time = Timestamp.text(wallMs: wallMs)
        switch format {
        case .json:
            line.append(text: "{\"time\":\"\(time)\"")
            for (name, value) in head + fields {
                line.append(text: ",\"\(name)\":")
                line.append(jsonString: value)
            }
            line.append(text: "}\n")
        case .text:
            line.append(text: time)
            for (_, value) in head { line.append(text: " " + value) }
            for (name, value) in fields {
                line.append(text: " \(name)=")
                let isPlain = !value.isEmpty && value.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && $0 != 0x22 }
                if isPlain { line.append(text: value) } else { line.append(jsonString: value) }
            }
            line.append(text: "\n")
        }
        return line
    }
}
