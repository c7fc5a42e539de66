public import Core

/// Reads a publish the same way for every protocol: its topic, its event's name, its data and its id.
///
/// The same fault has the same refusal everywhere. Only the names of the members differ.
public struct PublishReader: Sendable {
    /// The form in which the clients of one protocol write a publish.
    public struct Form: Sendable {
        /// The member that holds the event's data.
        let data: String
        /// The text before and after a member's name where a refusal quotes it.
        let quotes: (before: String, after: String)
        /// Whether data may be left out; they are an empty object then.
        let mayLackData: Bool
        /// Whether `null` is the same as absent: typed clients write absent members so.
        let ignoresNull: Bool
        /// The members of a publish that is one object.
        let members: [String]

        private init(data: String, quotes: (before: String, after: String), mayLackData: Bool, ignoresNull: Bool) {
            self.data = data
            self.quotes = quotes
            self.mayLackData = mayLackData
            self.ignoresNull = ignoresNull
            members = ["topic", "event", data, "id"]
        }

        /// `data` of the native message `publish`; the topic may also stand beside it.
        public static let message = Form(
            data: "data", quotes: ("\"data.", "\""), mayLackData: true, ignoresNull: true)
        /// A message of `POST /v1/broadcast`.
        public static let broadcast = Form(data: "data", quotes: ("'", "'"), mayLackData: false, ignoresNull: false)
        /// A message as Supabase's clients send it.
        public static let supabase = Form(data: "payload", quotes: ("'", "'"), mayLackData: false, ignoresNull: false)
        /// The payload of the Phoenix event `broadcast`.
        public static let phoenix = Form(
            data: "payload", quotes: ("\"payload.", "\""), mayLackData: true, ignoresNull: true)
    }

    private let form: Form
    private let bytesMax: Int

    /// `bytesMax` bounds the bytes of the data; more is `too_large`.
    public init(_ form: Form, bytesMax: Int) {
        self.form = form
        self.bytesMax = bytesMax
    }

    /// The members of a publish that is one object.
    public var members: [String] { form.members }

    /// Reads a publish whose members are all in one object.
    public func request(_ object: JSON.Value) throws(Refusal) -> PublishRequest {
        try request(on: NativeTarget.topic(object["topic"]), object)
    }

    /// Reads a publish whose topic was read before.
    public func request(on topic: Topic, _ object: JSON.Value) throws(Refusal) -> PublishRequest {
        PublishRequest(
            topic: topic, event: try event(object["event"]?.stringBytes), data: try data(present(object[form.data])),
            id: try id(present(object["id"])))
    }

    /// Reads a publish whose parts are separate; the data are still text.
    public func request(
        on topic: Topic, event name: [UInt8], text: [UInt8], limits: JSON.Limits
    ) throws(Refusal) -> PublishRequest {
        let event = try event(name)
        // Checked first, so that a text that is too long is not read.
        guard text.count <= bytesMax else { throw tooLarge(text.count) }
        guard let root = try? JSON(parsing: text, limits: limits).root else {
            throw Refusal(.badRequest, "\(quoted(form.data)) is not valid JSON.")
        }
        return PublishRequest(topic: topic, event: event, data: try data(root), id: nil)
    }

    private func event(_ name: [UInt8]?) throws(Refusal) -> EventName {
        guard let name, let event = EventName(name) else {
            throw Refusal(
                .badRequest,
                "\(quoted("event")) must be a string of 1 to \(EventName.bytesMax) of A-Z a-z 0-9 . _ : / -.")
        }
        guard !event.isReserved else {
            // Safe to repeat: it is one of a few known words.
            throw Refusal(
                .badRequest, "\(quoted("event")) is '\(event)', a name the gateway keeps for itself; choose another.")
        }
        return event
    }

    private func data(_ value: JSON.Value?) throws(Refusal) -> [UInt8] {
        guard let value else {
            guard form.mayLackData else { throw Refusal(.badRequest, "\(quoted(form.data)) is missing.") }
            return Array("{}".utf8)
        }
        guard value.kind == .object else {
            throw Refusal(.badRequest, "\(quoted(form.data)) must be an object: the event's own data.")
        }
        guard value.raw.count <= bytesMax else { throw tooLarge(value.raw.count) }
        return Array(value.raw)
    }

    private func tooLarge(_ count: Int) -> Refusal {
        Refusal(.tooLarge, "\(quoted(form.data)) has \(count) bytes; at most \(bytesMax) are published.")
    }

    private func id(_ value: JSON.Value?) throws(Refusal) -> MessageID? {
        guard let value else { return nil }
        guard let text = value.stringBytes, let id = MessageID(text) else {
            throw Refusal(
                .badRequest,
                "\(quoted("id")) must be a string of 1 to \(MessageID.bytesMax) of A-Z a-z 0-9 . _ ~ : - (not \"-\").")
        }
        return id
    }

    private func present(_ value: JSON.Value?) -> JSON.Value? {
        form.ignoresNull ? NativeDecoder.present(value) : value
    }

    private func quoted(_ member: String) -> String { form.quotes.before + member + form.quotes.after }
}
