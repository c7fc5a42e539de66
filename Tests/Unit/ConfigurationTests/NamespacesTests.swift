import Configuration
import Core
import TestSupport
import Testing

private let wrongRule =
    "c.json: namespaces.shop.subscribe: expected one of anyone, user, owner, granted, service"
    + "; got \"anyon\"; did you mean anyone?"

/// The config file's policies.
@Suite struct NamespacesTests {
    private func policies(_ object: String) -> CommandLineResult {
        read(plain, file: "{\"namespaces\": " + object + "}")
    }

    @Test func policiesAreMergedFieldByField() throws {
        let settings = try #require(
            gateway(
                policies(
                    #"""
                    {"shop": {"log": {"seconds": 600}}, "conversation": null,
                     "auction": {"subscribe": "anyone", "publish": "user", "presence": true},
                     "phoenix": {"presence": false}}
                    """#)))
        var shop = try #require(StandardTables.namespaces["shop"])
        shop.logSeconds = 600
        #expect(settings.namespaces["shop"] == shop)
        #expect(settings.namespaces["conversation"] == nil)
        #expect(
            settings.namespaces["auction"]
                == NamespacePolicy(
                    subscribe: .anyone, publish: .user, logEventsMax: 200, logSeconds: 300, slow: .disconnect,
                    presence: true))
        #expect(
            StandardTables.namespaces["phoenix"]?.presence == true && settings.namespaces["phoenix"]?.presence == false)
        #expect(settings.namespaces["order"] == StandardTables.namespaces["order"])
        #expect(settings.namespaces.count == StandardTables.namespaces.count)
        #expect(settings.describe().contains("removed"))
    }

    @Test func aLogMayBeBoundInBytes() throws {
        let text = #"{"shop": {"log": {"bytes": 131072}}, "phoenix": {"log": {"bytes": null}}}"#
        let settings = try #require(gateway(policies(text)))
        #expect(settings.namespaces["shop"]?.logBytesMax == 131_072)
        #expect(settings.namespaces["phoenix"]?.logBytesMax == nil)
        #expect(settings.describe().contains("log=200/300s/131072B"))
    }

    @Test func theKeysOfConflationAreReplacedAsAWhole() throws {
        let settings = try #require(
            gateway(policies(#"{"shop": {"conflate": {"price": "sku", "clock": null}}, "dj": {"slow": "disconnect"}}"#))
        )
        let (price, clock) = (try #require(EventName("price")), try #require(EventName("clock")))
        #expect(settings.namespaces["shop"]?.conflate == [price: .member("sku"), clock: .name])
        #expect(settings.namespaces["dj"]?.conflate == StandardTables.namespaces["dj"]?.conflate)
        #expect(
            settings.namespaces["dj"]?.conflate[try #require(EventName("track:added"))] == .member("trackId"))
        #expect(StandardTables.namespaces.values.allSatisfy { ($0.slow == .conflate) == !$0.conflate.isEmpty })
    }

    @Test func payloadsAreFlatWhereTheNamespaceSaysSo() throws {
        let settings = try #require(gateway(policies(#"{"order": {"flatten": true}, "user": {"follows": false}}"#)))
        #expect(settings.namespaces.filter(\.value.flatten).map(\.key) == ["order"])
        #expect(settings.namespaces["user"]?.follows == false)
        #expect(settings.describe().contains(" flatten"))
        #expect(StandardTables.namespaces.values.allSatisfy { !$0.flatten })
    }

    @Test(arguments: [
        (#"[]"#, "c.json: namespaces: expected an object of namespaces; got an array"),
        (#"{"order": {"flatten": 1}}"#, "c.json: namespaces.order.flatten: expected true or false; got a number"),
        (
            #"{"Shop": {}}"#,
            "c.json: namespaces.Shop: expected a namespace: a lower-case letter, then at most 31 of a-z 0-9 -"
        ),
        (#"{"shop": {"presence": 1}}"#, "c.json: namespaces.shop.presence: expected true or false; got a number"),
        (
            #"{"shop": {"presense": true}}"#,
            "c.json: namespaces.shop.presense: unknown key; did you mean presence?"
        ),
        (#"{"shop": 1}"#, "c.json: namespaces.shop: expected an object, or null to remove it; got a number"),
        (
            #"{"new": {"subscribe": "user"}}"#,
            "c.json: namespaces.new: a new namespace must say who may publish"
        ),
        (
            #"{"shop": {"subscribe": "anyon"}}"#,
            wrongRule
        ),
        (
            #"{"shop": {"slow": 1}}"#,
            "c.json: namespaces.shop.slow: expected one of conflate, disconnect; got a number"
        ),
        (
            #"{"shop": {"conflate": ["queue:update"]}}"#,
            "c.json: namespaces.shop.conflate: expected an object of event names; got an array"
        ),
        (
            #"{"shop": {"conflate": {"a b": null}}}"#,
            "c.json: namespaces.shop.conflate.a b: expected the name of an event: 1 to 64 of A-Z a-z 0-9 . _ : / -"
        ),
        (
            #"{"shop": {"conflate": {"a": 1}}}"#,
            "c.json: namespaces.shop.conflate.a: expected null or the name of a member; got a number"
        ),
        (#"{"shop": {"logs": {}}}"#, "c.json: namespaces.shop.logs: unknown key; did you mean log?"),
        (
            #"{"shop": {"log": 5}}"#,
            #"c.json: namespaces.shop.log: expected {"events": N, "seconds": N, "bytes": N}; got a number"#
        ),
        (#"{"shop": {"log": {"event": 5}}}"#, "c.json: namespaces.shop.log.event: unknown key; did you mean events?"),
        (
            #"{"shop": {"log": {"events": 100001}}}"#,
            "c.json: namespaces.shop.log.events: expected a whole number from 0 to 100000"
        ),
        (
            #"{"shop": {"log": {"seconds": 0}}}"#,
            "c.json: namespaces.shop.log.seconds: expected a whole number from 1 to 31622400"
        ),
    ])
    func aWrongPolicyIsNamedWithItsPath(object: String, expected: String) {
        #expect(problems(policies(object)) == [expected])
    }
}
