/// A service outside that a courier asks (docs/courier.md).
public struct ServiceSettings: Sendable, Equatable {
    /// What scripts call it.
    public var name: String
    /// Where it is, without a slash at the end.
    public var url: String
    /// Where its tokens come from; `nil`: it asks for none.
    public var tokenURL: String?
    /// Who asks, with a token.
    public var clientID = ""
    /// The file of the client's secret.
    public var secretFile: String?
    /// The country whose catalogue is asked, two letters.
    public var market = "US"
}

/// A receiver of events outside (docs/courier.md).
public struct WebhookSettings: Sendable, Equatable {
    /// Its name in Redis, logs and metrics.
    public var name: String
    /// Where events are sent.
    public var url: String
    /// The file of the secrets that events are signed with, one a line.
    public var secretFile: String
    /// Topics, or all of a namespace as `order:*`.
    public var topics: [String]
    /// Names of events, or how they begin as `order.*`; empty: all.
    public var events: [String] = []
    /// How long an event that the receiver refuses holds up its topic, seconds.
    public var giveUpSeconds = 300

    /// A receiver of all events of some topics.
    public init(name: String, url: String, secretFile: String, topics: [String]) {
        (self.name, self.url, self.secretFile, self.topics) = (name, url, secretFile, topics)
    }
}
