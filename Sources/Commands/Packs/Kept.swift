import Core

/// Data that stay in Redis after a user's erasure, as `docs/erasure.md` lists them.
public struct Kept: Equatable, Sendable {
    /// The keys, with `*` for an id and a space between two of them.
    public let keys: String
    /// The data that stay, in a few words.
    public let what: String
    /// The end of their life, in a few words.
    public let until: String

    /// Makes a row of the table.
    public init(keys: String, what: String, until: String) {
        (self.keys, self.what, self.until) = (keys, what, until)
    }

    /// The rows of the gateway itself, which hold for every pack.
    public static let gateway = [
        Kept(
            keys: "shop:*#log", what: "events with texts that clients and services published, as on every topic",
            until: "`log.seconds` after the topic's last event"),
        Kept(
            keys: "*:*#seen#user:*#*", what: "ids of events that the user published",
            until: "5 minutes (`idempotencySeconds`)"),
        Kept(
            keys: "*:*#done#*", what: "answers of the user's last commands, with texts and titles",
            until: "5 minutes (`idempotencySeconds`), an hour for calls of the worker (`callSeconds`)"),
        Kept(
            keys: "*:*#fence", what: "the last turn of a refresh, in a key with the user's id in its name",
            until: "a day"),
        Kept(
            keys: "*:*#meta", what: "the position of a topic with the user's id in its name",
            until: "`log.seconds` after the topic's last event, and a day"),
        Kept(
            keys: "*:*#here", what: "presence that the user's clients said of themselves, with texts",
            until: "until the last session ends, at most 5 minutes more"),
        Kept(
            keys: "#removed", what: "from which topics the user was taken out",
            until: "2 minutes"),
        Kept(
            keys: "#revoked #revoked-before", what: "that tokens of the user are refused",
            until: "until the longest token has ended"),
        Kept(
            keys: "*:*#members", what: "topics that a service has let the user into",
            until: "until the service takes the user out"),
    ]

    /// The JSON object `{"keys":[...],"what":"...","until":"..."}`.
    public var json: [UInt8] {
        let names = keys.split(separator: " ").map { JSONNode.text(String($0)) }
        let row: JSONNode = ["keys": .array(names), "what": .text(what), "until": .text(until)]
        return row.bytes
    }
}
