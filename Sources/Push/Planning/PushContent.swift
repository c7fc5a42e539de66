import Core

/// The content of a push, before it is cut to size.
public struct PushContent: Sendable, Equatable {
    /// The type by which the user has preferences: a notification's type, or `message`.
    public var type: [UInt8]
    /// The first line; `nil` when the app has to find it.
    public var title: [UInt8]?
    /// The text.
    public var body: [UInt8]
    /// The author; `nil` for a notification.
    public private(set) var sender: [UInt8]?
    /// The app's own texts, which the device shows in its language in place of title and body.
    public private(set) var words = Words()
    /// The name by which the device groups pushes.
    public var thread: [UInt8]
    /// Members beside `aps`: fixed names and JSON text.
    public var members: [(name: StaticString, json: [UInt8])]
    /// The time of its creation, milliseconds since 1970.
    public var atMs: Int
    /// Whether the app's extension processes it before it is shown.
    public var isMutable: Bool

    /// The names of texts that the app has in each language, and what stands in their places.
    public struct Words: Sendable, Equatable {
        /// The name of the text for the title; `nil`: none.
        let titleKey: [UInt8]?
        /// The name of the text for the body; `nil`: none.
        let bodyKey: [UInt8]?
        /// JSON text of an array of strings; `nil`: none.
        let places: [UInt8]?

        init(titleKey: [UInt8]? = nil, bodyKey: [UInt8]? = nil, places: [UInt8]? = nil) {
            self.titleKey = titleKey
            self.bodyKey = bodyKey
            // Anything else would make the whole push invalid.
            let json = places.flatMap { try? JSON(parsing: $0, limits: PushContent.limits) }
            self.places =
                json.map { $0.root.kind == .array && $0.root.members.allSatisfy { $0.stringBytes != nil } } == true
                ? places : nil
        }
    }

    /// A notification, from the fields of its entry in the inbox; `nil` for an entry that `notify.lua` did not write.
    public init?(notification id: [UInt8], fields: [[UInt8]]) {
        var found: [[UInt8]: [UInt8]] = [:]
        for index in stride(from: 0, to: fields.count - 1, by: 2) { found[fields[index]] = fields[index + 1] }
        func field(_ name: String) -> [UInt8]? { found[Array(name.utf8)] }
        guard let type = field("type"), let title = field("title"), let body = field("body"),
            let atMs = ASCII.decimal(id.prefix { $0 != UInt8(ascii: "-") }), Timestamp.range.contains(atMs)
        else { return nil }
        self.type = type
        self.title = title
        self.body = body
        words = Words(titleKey: field("titleKey"), bodyKey: field("bodyKey"), places: field("textArgs"))
        thread = type
        var own: [(StaticString, [UInt8])] = [("id", PushContent.string(id)), ("type", PushContent.string(type))]
        // Foreign data that are no object would make the whole push invalid.
        if let text = field("data"), let json = try? JSON(parsing: text, limits: PushContent.limits),
            json.root.kind == .object
        {
            own.append(("data", Array(json.root.raw)))
        }
        members = own.map { (name: $0.0, json: $0.1) }
        self.atMs = atMs
        isMutable = false
    }

    /// The newest message of a conversation, from its item in the user's list.
    ///
    /// `nil` when it is malformed, has no message, or the message is the user's own.
    public init?(conversation id: [UInt8], stored text: [UInt8], user: [UInt8]) {
        guard let json = try? JSON(parsing: text, limits: PushContent.limits), let body = json.root["x"]?.stringBytes,
            let sender = json.root["s"]?.stringBytes, sender != user, let message = json.root["i"]?.stringBytes,
            let atMs = json.root["l"]?.int, Timestamp.range.contains(atMs)
        else { return nil }
        type = Array("message".utf8)
        title = json.root["t"]?.stringBytes.flatMap { $0.isEmpty ? nil : $0 }
        self.body = body
        self.sender = sender
        thread = id
        members = [
            (name: "type", json: PushContent.string(type)), (name: "conversationId", json: PushContent.string(id)),
            (name: "senderId", json: PushContent.string(sender)),
            (name: "messageId", json: PushContent.string(message)),
        ]
        self.atMs = atMs
        isMutable = true
    }

    /// The number of unread messages of the conversation; 0 when it cannot be read.
    public static func unread(stored text: [UInt8]) -> Int {
        guard let json = try? JSON(parsing: text, limits: limits) else { return 0 }
        return max(json.root["u"]?.int ?? 0, 0)
    }

    /// Whether all the parts are equal.
    public static func == (left: PushContent, right: PushContent) -> Bool {
        left.type == right.type && left.title == right.title && left.body == right.body && left.sender == right.sender
            && left.thread == right.thread && left.words == right.words && left.atMs == right.atMs
            && left.isMutable == right.isMutable
            && left.members.elementsEqual(right.members) {
                $0.name.description == $1.name.description && $0.json == $1.json
            }
    }

    private static let limits = JSON.Limits(depthMax: 16, elementsMax: 4_000)

    /// JSON text of a string; bytes that are not UTF-8 become replacement characters.
    static func string(_ text: [UInt8]) -> [UInt8] {
        var json: [UInt8] = []
        json.append(jsonString: String(decoding: text, as: UTF8.self))
        return json
    }
}
