import Core
import HTTPCodec

/// A stand-in for Spotify's Web API, as far as the courier uses it: the demo's invented songs.
enum DemoCatalogue {
    /// Answers a search or a look-up of a track; no token is required.
    static func answer(to head: HTTPRequestHead) -> HTTPResponse {
        let path = String(decoding: head.path, as: UTF8.self)
        if path == "/v1/search", case .one(let words) = head.queryItem("q") {
            let wanted = words.map { ASCII.lowercased($0) }.split(separator: 0x20)
            let found = DemoCast.tracks.indices.filter { index in
                let text = (DemoCast.tracks[index].name + " " + DemoCast.tracks[index].artist).utf8.map {
                    ASCII.lowercased($0)
                }
                return wanted.allSatisfy { text.contains($0) }
            }
            let offset: Int
            if case .one(let digits) = head.queryItem("offset") {
                offset = ASCII.decimal(digits) ?? 0
            } else {
                offset = 0
            }
            return .json(status: 200, body: page(found.dropFirst(offset).prefix(10)), keepAlive: false)
        }
        if path.hasPrefix("/v1/tracks/demo"),
            let number = ASCII.decimal(head.path.dropFirst("/v1/tracks/demo".utf8.count)),
            DemoCast.tracks.indices.contains(number)
        {
            return .json(status: 200, body: track(number), keepAlive: false)
        }
        return .refusal(Refusal(.notFound, "there is no such track"), keepAlive: false)
    }

    private static func page(_ found: some Sequence<Int>) -> [UInt8] {
        var text: [UInt8] = Array("{\"tracks\":{\"items\":".utf8)
        text.append(arrayOf: found) { $0 += track($1) }
        return text + Array("}}".utf8)
    }

    private static func track(_ number: Int) -> [UInt8] {
        let (name, artist) = DemoCast.tracks[number]
        var text: [UInt8] = Array("{\"id\":\"demo\(number)\"".utf8)
        text.append(member: "name", string: name)
        text.append(text: ",\"artists\":[{")
        text.append(member: "name", string: artist)
        text.append(
            text: "}],\"album\":{\"name\":\"Cut and Blow\",\"images\":[]},\"duration_ms\":\(150_000 + number * 2_500)}")
        return text
    }
}
