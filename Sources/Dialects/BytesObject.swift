import Core

/// Raw bytes as the data of an event, which is always one JSON object: `{"$bytes":"<base64>"}`.
///
/// Dialects that can send bytes send them as bytes; all others pass the object on. So an event has one form in the log,
/// regardless of its publisher.
public enum BytesObject {
    private static let head = Array("{\"$bytes\":\"".utf8)
    private static let tail = Array("\"}".utf8)

    /// The data of an event that is nothing but these bytes.
    public static func data(of bytes: some Collection<UInt8>) -> [UInt8] {
        head + Base64.encode(bytes, .standard) + tail
    }

    /// The bytes that the data stand for; `nil` for any other data, also for such an object spelled with spaces.
    public static func bytes(in data: [UInt8]) -> [UInt8]? {
        guard data.count >= head.count + tail.count, data.starts(with: head), data.suffix(tail.count) == tail[...]
        else { return nil }
        return Base64.decode(data[head.count..<(data.count - tail.count)], .standard)
    }
}
