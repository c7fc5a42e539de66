import Core
import Dialects
import Testing

/// What clients send that is refused or dropped, with the exact bytes of the answer.
@Suite struct PhoenixRefusalTests {
    // MARK: Dropped

    /// Frames that are none: they count, nothing is said, and the connection goes on.
    @Test(arguments: [
        "", "hello", "{", "{}", "[]", "null", "7", "\"x\"", "[1,2,3,4,5]",
        "[\"1\",\"1\",\"realtime:a:1\",\"phx_join\"]", "[\"1\",\"1\",7,\"phx_join\",{}]",
        "[\"1\",\"1\",\"realtime:a:1\",null,{}]", "[{},\"1\",\"realtime:a:1\",\"phx_join\",{}]",
        "[\"1\",true,\"realtime:a:1\",\"phx_join\",{}]",
        "{\"topic\":\"realtime:a:1\",\"event\":\"phx_join\",\"payload\":{}}",
        "{\"topic\":\"realtime:a:1\",\"event\":\"phx_join\",\"ref\":\"1\"}",
        "{\"topic\":\"realtime:a:1\",\"payload\":{},\"ref\":\"1\"}",
        "{\"event\":\"phx_join\",\"payload\":{},\"ref\":\"1\"}",
        "{\"topic\":\"realtime:a:1\",\"event\":\"phx_join\",\"payload\":{},\"ref\":[]}",
        "{\"topic\":\"phoenix\",\"topic\":\"phoenix\",\"event\":\"heartbeat\",\"payload\":{},\"ref\":\"1\"}",
    ])
    func whatIsNoFrameIsDropped(_ text: String) throws {
        for version in PhoenixVersion.allCases {
            var phoenix = Phoenix(version)
            phoenix.send(text)
            #expect(phoenix.asked.count == 1, "\(text)")
            try phoenix.answer()
            #expect(phoenix.heard() == [], "\(text)")
        }
    }

    /// Each version's frames are none of the other's.
    @Test func theVersionsAreNotMixed() throws {
        var first = Phoenix(.v1)
        first.send(Phoenix.join(.v2))
        try first.answer()
        #expect(first.heard() == [])
        var second = Phoenix(.v2)
        second.send(Phoenix.join(.v1))
        try second.answer()
        #expect(second.heard() == [])
    }

    @Test func longFieldsAreDropped() throws {
        let long = String(repeating: "x", count: 256)
        for frame in [
            Phoenix.frame(.v2, "realtime:" + long, "phx_join", "{}", ref: "1"),
            Phoenix.frame(.v2, Phoenix.order, long, "{}", ref: "1"),
            Phoenix.frame(.v2, Phoenix.order, "phx_join", "{}", ref: long),
            Phoenix.frame(.v2, Phoenix.order, "phx_join", "{}", ref: "1", joinRef: long),
            String(repeating: "[", count: 20) + String(repeating: "]", count: 20),
        ] {
            var phoenix = Phoenix(.v2)
            phoenix.send(frame)
            try phoenix.answer()
            #expect(phoenix.heard() == [])
        }
    }

    /// Kinds that are none, and kind 3 and 0 whose lengths announce more than there is.
    @Test(arguments: [
        "", "01", "02", "04", "05", "ff", "03", "030101", "0301010e040001", "03ffffffffff01",
        "0301010e0400013637" + "7265616c74696d653a726f6f", "00", "0001010e", "00ffffffff",
        // A topic and a reference that are not UTF-8.
        "03000003010001" + "ff" + "6161" + "62", "03010001010001" + "ff" + "61" + "62",
    ])
    func binaryFramesThatAreNoneAreDropped(_ hex: String) throws {
        for version in PhoenixVersion.allCases {
            var phoenix = Phoenix(version)
            phoenix.send(Bytes.of(hex), as: .binary)
            #expect(phoenix.asked.count == 1)
            try phoenix.answer()
            #expect(phoenix.heard() == [])
        }
    }

    @Test func eventsThatAChannelHasNotAreDropped() throws {
        var phoenix = try Phoenix.joined(.v2)
        for event in ["postgres_changes", "phx_close", "phx_reply", "", "BROADCAST", "system"] {
            phoenix.send(Phoenix.frame(.v2, Phoenix.order, event, "{}", ref: "3"))
            try phoenix.answer()
        }
        phoenix.send("[null,\"1\",\"phoenix\",\"other\",{}]")
        try phoenix.answer()
        #expect(phoenix.heard() == [])
    }

    // MARK: Channels

    @Test(arguments: PhoenixVersion.allCases)
    func anUnknownChannelIsUnmatched(_ version: PhoenixVersion) throws {
        for (channel, event) in [
            ("foo:r", "phx_join"), ("foo:r", "broadcast"), ("", "phx_join"), ("realtime", "phx_join"),
            ("phoenix", "phx_join"), ("realtime:order:42", "broadcast"), ("realtime:order:42", "presence"),
            ("realtime:order:42", "access_token"), ("realtime:", "broadcast"), ("Realtime:order:42", "phx_join"),
        ] {
            var phoenix = Phoenix(version)
            phoenix.send(Phoenix.frame(version, channel, event, "{}", ref: "5"))
            try phoenix.answer()
            #expect(
                phoenix.heard() == [Phoenix.refused(version, channel, "unmatched topic", ref: "5", joinRef: nil)])
        }
    }

    @Test func aStrangeChannelIsEscapedInItsAnswer() throws {
        var phoenix = Phoenix(.v2)
        phoenix.send("[\"1\",\"\\u0031\",\"foo\\\"\\n\\u0000é\",\"phx_join\",{}]")
        try phoenix.answer()
        #expect(
            phoenix.heard() == [
                "[null,\"\\u0031\",\"foo\\\"\\n\\u0000é\",\"phx_reply\",{\"status\":\"error\",\"response\":"
                    + "{\"reason\":\"unmatched topic\"}}]"
            ])
    }

    @Test(arguments: PhoenixVersion.allCases)
    func namesThatAreNoTopicsAreRefusedInWords(_ version: PhoenixVersion) throws {
        let bare = "InvalidTopic: A channel name without a colon has 1 to 200 of A-Z a-z 0-9 . _ ~ -"
        let full =
            "InvalidTopic: A channel name is namespace:id, e.g. order:42: the namespace a-z 0-9 -, the id 1 to 200 of "
            + "A-Z a-z 0-9 . _ ~ : -"
        for (name, reason) in [
            ("", "TopicNameRequired: You must provide a topic name"), ("my room", bare), ("*", bare),
            (String(repeating: "x", count: 201), bare), ("Room:1", full), ("order:", full), (":1", full),
            ("order:a b", full), ("order:42#log", full),
            ("phoenix:lobby", "InvalidTopic: Leave out phoenix: and name the channel by what follows it"),
        ] {
            var phoenix = Phoenix(version)
            phoenix.send(Phoenix.join(version, "realtime:" + name))
            try phoenix.answer()
            #expect(phoenix.heard() == [Phoenix.refused(version, "realtime:" + name, reason, ref: "1")])
        }
    }

    // MARK: Joins

    @Test(arguments: PhoenixVersion.allCases)
    func joinsAreRefusedByCode(_ version: PhoenixVersion) throws {
        let unauthorized =
            "Unauthorized: You do not have permissions to read from this Channel topic: order:42"
        for (code, reason) in [
            (ErrorCode.unauthorized, unauthorized), (.forbidden, unauthorized), (.notFound, "NotFound: text"),
            (.tooLarge, "ChannelRateLimitReached: Too many channels"),
            (.rateLimited, "ClientJoinRateLimitReached: Too many joins per second"),
            (.unavailable, "Unavailable: text"), (.conflict, "Conflict: text"), (.badRequest, "BadRequest: text"),
            (.internalError, "Internal: text"),
        ] {
            var phoenix = Phoenix(version)
            phoenix.send(Phoenix.join(version))
            try phoenix.answer(.error(Refusal(code, "text"), topic: try Phoenix.topic()))
            #expect(phoenix.heard() == [Phoenix.refused(version, reason, ref: "1")])
            #expect(phoenix.asked.isEmpty)
            // Nothing of it is left.
            phoenix.send(Phoenix.frame(version, Phoenix.order, "broadcast", "{\"event\":\"e\"}", ref: "2"))
            try phoenix.answer()
            #expect(phoenix.heard() == [Phoenix.refused(version, "unmatched topic", ref: "2", joinRef: nil)])
        }
    }

    @Test func aConnectionHasSoManyChannels() throws {
        var phoenix = Phoenix(.v2, channelsMax: 2)
        for ref in 1...2 {
            phoenix.send(Phoenix.join(.v2, "realtime:order:\(ref)", ref: "\(ref)"))
            try phoenix.answer(try Phoenix.subscribed("order:\(ref)"))
        }
        _ = phoenix.heard()
        phoenix.send(Phoenix.join(.v2, "realtime:order:3", ref: "3"))
        try phoenix.answer()
        let reason = "ChannelRateLimitReached: Too many channels"
        #expect(phoenix.heard() == [Phoenix.refused(.v2, "realtime:order:3", reason, ref: "3", joinRef: "3")])
        // Joining one of them again needs no room.
        phoenix.send(Phoenix.join(.v2, "realtime:order:1", ref: "4"))
        #expect(throws: Never.self) { try phoenix.command() }
    }

    // MARK: Pushes

    /// With acknowledgements the reply says what is wrong; without, a notice does, and the channel lives.
    @Test(arguments: PhoenixVersion.allCases)
    func broadcastsThatCannotBePublishedAreRefused(_ version: PhoenixVersion) throws {
        let name = "BadRequest: \\\"payload.event\\\" must be a string of 1 to 64 of A-Z a-z 0-9 . _ : / -."
        for (payload, reason) in [
            ("{}", name), ("7", name), ("{\"event\":7}", name), ("{\"event\":\"a b\"}", name),
            (
                "{\"event\":\"gap\"}",
                "BadRequest: \\\"payload.event\\\" is 'gap', a name the gateway keeps for itself; choose another."
            ),
            (
                "{\"event\":\"e\",\"payload\":[1]}",
                "BadRequest: \\\"payload.payload\\\" must be an object: the event's own data."
            ),
            (
                "{\"event\":\"e\",\"payload\":{\"a\":\"\(String(repeating: "x", count: 60))\"}}",
                "payload_size_exceeded"
            ),
        ] {
            for ack in [true, false] {
                var phoenix = try Phoenix.joined(version, "{\"broadcast\":{\"ack\":\(ack)}}")
                phoenix.send(Phoenix.frame(version, Phoenix.order, "broadcast", payload, ref: "3"))
                try phoenix.answer()
                let notice =
                    "{\"extension\":\"system\",\"status\":\"ok\",\"message\":\"broadcast refused: \(reason)\","
                    + "\"channel\":\"order:42\"}"
                let expected =
                    ack
                    ? Phoenix.refused(version, reason, ref: "3")
                    : Phoenix.message(version, Phoenix.order, "system", notice, ref: nil, joinRef: "1")
                #expect(phoenix.heard() == [expected])
            }
        }
    }

    @Test func publishesAreRefusedByCode() throws {
        for (code, reason) in [
            (
                ErrorCode.forbidden,
                "Unauthorized: You do not have permissions to write to this Channel topic: order:42"
            ), (.rateLimited, "RateLimited: text"), (.unavailable, "Unavailable: text"),
        ] {
            var phoenix = try Phoenix.joined(.v2, "{\"broadcast\":{\"ack\":true}}")
            phoenix.send(Phoenix.frame(.v2, Phoenix.order, "broadcast", "{\"event\":\"e\"}", ref: "3"))
            try phoenix.answer(.error(Refusal(code, "text"), topic: try Phoenix.topic()))
            #expect(phoenix.heard() == [Phoenix.refused(.v2, reason, ref: "3")])
        }
    }

    @Test(arguments: [
        "0301010e030001" + "3133" + "7265616c74696d653a723a3431" + "00" + "616263" + "7b7d7b7d",
        "0301010d030001" + "3133" + "7265616c74696d653a723a3431" + "616263" + "5b5d",
        "0301010d030001" + "3133" + "7265616c74696d653a723a3431" + "616263" + "ff",
        "0301010d030001" + "3133" + "7265616c74696d653a723a3431" + "616263",
        "0301010d000001" + "3133" + "7265616c74696d653a723a3431" + "7b7d",
        "000101" + "0d09" + "3133" + "7265616c74696d653a723a3431" + "62726f616463617374" + "7b7d",
    ])
    func binaryBroadcastsWithoutAnObjectAreRefused(_ hex: String) throws {
        var phoenix = Phoenix(.v2)
        phoenix.send(Phoenix.join(.v2, "realtime:r:41", "{\"broadcast\":{\"ack\":true}}"))
        try phoenix.answer(try Phoenix.subscribed("r:41"))
        _ = phoenix.heard()
        phoenix.send(Bytes.of(hex), as: .binary)
        guard case .failure(let failure) = phoenix.asked.first else { return #expect(Bool(false)) }
        #expect(failure.refusal.code == .badRequest)
        try phoenix.answer()
        #expect(phoenix.heard().count == 1)
    }
}
