import Core
import Testing

@testable import Courier

/// A track as Spotify describes it, reduced to what the apps show.
@Suite struct SpotifyTrackTests {
    private func track(_ json: String) throws -> SpotifyTrack? {
        SpotifyTrack(try JSON(parsing: bytes(json), limits: JSON.Limits(depthMax: 16, elementsMax: 1_000)).root)
    }

    private static let whole = ##"""
        {"id":"t1","name":"Blue \"Sky\"","explicit":false,"duration_ms":215000,"external_ids":{"isrc":"DEA123"},
        "artists":[{"name":"Ann","id":"x"},{"name":"Bob"}],"album":{"name":"Days","images":[
        {"url":"https://i.example/640","width":640},{"url":"https://i.example/300","width":300},
        {"url":"https://i.example/64","width":64}]}}
        """##

    @Test func bothFormsHaveWhatAppsShow() throws {
        let track = try #require(try track(SpotifyTrackTests.whole))
        #expect(
            text(track.text)
                == ##"{"id":"t1","name":"Blue \"Sky\"","artists":[{"name":"Ann"},{"name":"Bob"}],"##
                + ##""album":{"name":"Days","images":[{"url":"https://i.example/300"}]},"duration_ms":215000}"##)
        #expect(
            text(track.appText)
                == ##"{"id":"t1","isrc":"DEA123","name":"Blue \"Sky\"","artists":"Ann, Bob","album":"Days","##
                + ##""duration_ms":215000,"image_url":"https://i.example/300","source":"spotify"}"##)
    }

    @Test func whatIsMissingIsLeftOut() throws {
        let track = try #require(try track(#"{"id":"t","name":""}"#))
        #expect(
            text(track.text) == ##"{"id":"t","name":"","artists":[],"album":{"name":"","images":[]},"duration_ms":0}"##)
        #expect(text(track.appText).contains(#""isrc":null"#) && text(track.appText).contains(#""image_url":null"#))
    }

    @Test(arguments: [
        "{}", "[]", #"{"id":"t"}"#, #"{"name":"n"}"#, #"{"id":"","name":"n"}"#, #"{"id":5,"name":"n"}"#,
        #"{"id":"t","name":5}"#,
    ])
    func anythingElseIsNoTrack(_ json: String) throws {
        #expect(try track(json) == nil)
        let long = String(repeating: "x", count: 65)
        #expect(try track(#"{"id":"\#(long)","name":"n"}"#) == nil)
    }

    @Test func listsAndNumbersAreBounded() throws {
        let artists = (0..<30).map { #"{"name":"a\#($0)"}"# }.joined(separator: ",")
        let track = try #require(try track(#"{"id":"t","name":"n","duration_ms":99999999999,"artists":[\#(artists)]}"#))
        #expect(track.artists.count == 10 && track.durationMs == 86_400_000)
    }

    @Test func onlyPicturesOverHTTPSAreShown() throws {
        let images =
            #"[{"url":"http://i.example/300","width":300},{"url":"https://i.example/64","width":64},{"width":9}]"#
        let track = try #require(try track(#"{"id":"t","name":"n","album":{"images":\#(images)}}"#))
        #expect(track.images.map(\.url) == ["https://i.example/64"])
    }
}
