import Core

/// A track of Spotify's, as far as the apps show it.
struct SpotifyTrack: Sendable, Equatable {
    /// Spotify's id, at most 64 bytes.
    let id: String
    /// The international code of the recording; `nil` where Spotify has none.
    let isrc: String?
    /// Texts, cut to 600 bytes.
    let name: String
    let artists: [String]
    let album: String
    /// The playing time, milliseconds.
    let durationMs: Int
    /// Addresses of pictures and their widths, 0 to 100,000 pixels, in Spotify's order.
    let images: [(url: String, width: Int)]

    static func == (left: SpotifyTrack, right: SpotifyTrack) -> Bool {
        left.text == right.text && left.appText == right.appText
    }

    private static let artistsMax = 10
    private static let imagesMax = 5
    private static let dayMs = 86_400_000
    private static let widthMax = 100_000
    private static let textBytesMax = 600

    /// Reads a track object; `nil` for anything else.
    init?(_ value: JSON.Value) {
        guard value.kind == .object, let id = value["id"]?.string, (1...64).contains(id.utf8.count),
            let name = value["name"]?.string
        else { return nil }
        self.id = id
        self.name = SpotifyTrack.cut(name)
        isrc = value["external_ids"]?["isrc"]?.string.map { SpotifyTrack.cut($0) }
        artists = SpotifyTrack.first(SpotifyTrack.artistsMax, of: value["artists"]).compactMap {
            $0["name"]?.string.map { SpotifyTrack.cut($0) }
        }
        album = SpotifyTrack.cut(value["album"]?["name"]?.string ?? "")
        durationMs = min(max(value["duration_ms"]?.int ?? 0, 0), SpotifyTrack.dayMs)
        images = SpotifyTrack.first(SpotifyTrack.imagesMax, of: value["album"]?["images"]).compactMap {
            guard let url = $0["url"]?.string, url.hasPrefix("https://"), url.utf8.count <= 1_000 else { return nil }
            return (url, min(max($0["width"]?.int ?? 0, 0), SpotifyTrack.widthMax))
        }
    }

    private static func first(_ count: Int, of list: JSON.Value?) -> [JSON.Value] {
        guard let list, list.kind == .array else { return [] }
        return Array(list.members.prefix(count))
    }

    /// At most 600 bytes, and no part of a code point.
    private static func cut(_ text: String) -> String {
        guard text.utf8.count > textBytesMax else { return text }
        var end = text.utf8.index(text.utf8.startIndex, offsetBy: textBytesMax)
        while UTF8.isContinuation(text.utf8[end]) { end = text.utf8.index(before: end) }
        return String(text[..<end])
    }

    /// The argument of `add_track` and `describe_track`: Spotify's own form, reduced to the needed members.
    var text: [UInt8] {
        var text = [UInt8(ascii: "{")]
        text.append(member: "id", string: id)
        text.append(member: "name", string: name)
        text.append(member: "artists")
        text.append(arrayOf: artists) { $0 += SpotifyTrack.object("name", $1) }
        text.append(text: ",\"album\":{")
        text.append(member: "name", string: album)
        text.append(member: "images")
        text.append(arrayOf: image.map { [$0] } ?? []) { $0 += SpotifyTrack.object("url", $1) }
        text.append(text: "},\"duration_ms\":\(durationMs)}")
        return text
    }

    private static func object(_ name: StaticString, _ value: String) -> [UInt8] {
        var text = [UInt8(ascii: "{")]
        text.append(member: name, string: value)
        return text + [UInt8(ascii: "}")]
    }

    /// The form that QueueUp's clients show.
    var appText: [UInt8] {
        var text = [UInt8(ascii: "{")]
        text.append(member: "id", string: id)
        text.append(member: "isrc", stringOrNull: isrc?.utf8)
        text.append(member: "name", string: name)
        text.append(member: "artists", string: artists.joined(separator: ", "))
        text.append(member: "album", string: album)
        text.append(member: "duration_ms", number: durationMs)
        text.append(member: "image_url", stringOrNull: image?.utf8)
        text.append(text: ",\"source\":\"spotify\"}")
        return text
    }

    /// The picture whose width is nearest to 300 pixels.
    private var image: String? {
        images.min { abs($0.width - 300) < abs($1.width - 300) }?.url
    }
}
