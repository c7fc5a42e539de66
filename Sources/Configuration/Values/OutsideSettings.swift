/// An outside service that a courier asks (docs/courier.md).
public struct ServiceSettings: Sendable, Equatable {
    /// The service's name in scripts.
    public var name: String
    /// The service's URL, without a slash at the end.
    public var url: String
    /// The URL that issues its tokens; `nil`: the service needs none.
    public var tokenURL: String?
    /// The id of the client that asks for tokens.
    public var clientID = ""
    /// The file of the client's secret.
    public var secretFile: String?
    /// The country whose catalogue is searched, two letters.
    public var market = "US"
}

/// An outside receiver of events (docs/courier.md).
public struct WebhookSettings: Sendable, Equatable {
    /// Its name in Redis, logs and metrics.
    public var name: String
    /// The URL that receives the events.
    public var url: String
    /// The file of the secrets that sign events, one on each line.
    public var secretFile: String
    /// Topics, or all of a namespace as `order:*`.
    public var topics: [String]
    /// Names of events, or prefixes such as `order.*`; empty: all events.
    public var events: [String] = []
    /// The time for which an event that the receiver refuses holds up its topic, seconds.
    public var giveUpSeconds = 300

    /// A receiver of all events of some topics.
    public init(name: String, url: String, secretFile: String, topics: [String]) {
        (self.name, self.url, self.secretFile, self.topics) = (name, url, secretFile, topics)
    }
}
