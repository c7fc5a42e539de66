#if canImport(Observation)  // lint:allow The class is marked as available from iOS 17 on.
    public import Observation  // lint:allow The class is marked as available from iOS 17 on.

    /// A topic for a screen: its content, kept up to date while `run()` runs.
    ///
    /// A view holds it in `@State` and runs it in `.task`. Each property that a view reads makes that view follow it.
    ///
    /// ```swift
    /// struct QueueView: View {
    ///     @State private var shop: TopicModel<Shop>
    ///
    ///     init(_ client: SwitchboardClient) { _shop = State(initialValue: TopicModel(client, "dj:42")) }
    ///
    ///     var body: some View {
    ///         List(shop.content.queue) { track in Text(track.trackName) }
    ///             .task { await shop.run() }
    ///     }
    /// }
    /// ```
    ///
    /// Events that are missing are requested from the gateway. Where that is impossible, the model requests the topic's
    /// state. In a namespace without states ``hasMissedEvents`` tells it.
    @available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
    @MainActor @Observable  // lint:allow The class is marked as available from iOS 17 on.
    public final class TopicModel<Content: TopicContent> {
        /// The topic, such as `shop:42`.
        public let topic: String
        /// The content to show.
        public private(set) var content = Content()
        /// Whether the content follows the topic now.
        public private(set) var isLive = false
        /// The members present; empty unless the model was made with `presence`.
        public private(set) var members: [TopicMember] = []
        /// Whether events are missing in the content, and no state has replaced it since.
        public private(set) var hasMissedEvents = false
        /// The reason why the topic is not live: it was refused, for good or for now.
        public private(set) var error: SwitchboardError?
        /// The last data that did not fit the app's types.
        public private(set) var undecodable: SwitchboardError?

        @ObservationIgnored private let client: SwitchboardClient
        @ObservationIgnored private let wantsPresence: Bool
        @ObservationIgnored private var position: TopicPosition?
        @ObservationIgnored private var hasState = false
        /// The number of the last run: an earlier one that still ends changes nothing.
        @ObservationIgnored private var runs = 0

        /// A model of a topic.
        ///
        /// - Parameters:
        ///   - client: the app's client.
        ///   - topic: the topic, such as `shop:42`.
        ///   - presence: whether the model also has the members present.
        public init(_ client: SwitchboardClient, _ topic: String, presence: Bool = false) {
            self.client = client
            self.topic = topic
            wantsPresence = presence
        }

        /// Follows the topic until the task is cancelled, the client is stopped or the topic is refused for good.
        ///
        /// A later run goes on with the present content: from the topic's state, or from the last position.
        public func run() async {
            runs += 1
            let number = runs
            if error != nil { error = nil }
            let since = hasState ? nil : position
            let updates = TypedUpdates<Content.Event, Content.State>(
                updates: client.updates(of: topic, since: since, presence: wantsPresence))
            do {
                for try await update in updates {
                    guard number == runs else { return }
                    take(update)
                }
            } catch {
                if number == runs { self.error = error as? SwitchboardError ?? SwitchboardError(.cancelled) }
            }
            if number == runs { isLive = false }
        }

        /// Requests the topic's state: for a control such as "pull to refresh".
        public func refresh() { client.resynchronise(topic) }

        private func take(_ update: TypedUpdate<Content.Event, Content.State>) {
            switch update {
            case .live(let state, _, let position):
                if let position { self.position = position }
                isLive = true
                error = nil
                guard let state else { return }
                hasState = true
                content.begin(with: state)
                hasMissedEvents = false
            case .event(let event, let position):
                if let position { self.position = position }
                content.apply(event)
            case .unknown(let event): if let position = event.position { self.position = position }
            case .undecodable(let error, let event):
                if let position = event?.position { self.position = position }
                undecodable = error
            case .gap(let gap): missed(gap)
            case .pending(let error):
                isLive = false
                self.error = error
            case .members(let members): self.members = members
            }
        }

        private func missed(_ gap: TopicGap) {
            if let position = gap.position { self.position = position }
            hasMissedEvents = true
            // After a reconnect the state follows by itself.
            if hasState, gap.reason != .notRecovered { client.resynchronise(topic) }
        }
    }
#endif
