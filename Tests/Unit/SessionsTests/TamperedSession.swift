import Connections
import Core
import Dialects
import Rights

@testable import Sessions
@testable import Topics

/// A session that errs on purpose: it stands between the state of a session and the model.
///
/// Requests of the client, answers to it and charges to the budget pass through here. Some are rewritten, so that the
/// client sees what a session with the fault would show it.
final class TamperedSession: SessionOutput, SessionBudget {
    /// Faults that sessions once had, or could have.
    enum Fault: CaseIterable {
        /// A control.
        case nothing
        /// A topic is joined although the client has left it while its membership was asked for.
        case lastWordIsForgotten
        /// The reference of a join that a later request replaced is never answered.
        case supersededIsSilent
        /// A live topic is left before it is known whether the session may join it again.
        case leavesBeforeItMay
        /// A live topic is left before the budget is charged for joining it again.
        case leavesBeforeItPays
        /// A topic that could not be joined again is lost, and the client is not notified.
        case lossIsSilent
        /// A refreshed token that grants less ends no subscription.
        case refreshTakesNothing
        /// Followed topics are joined without any charge.
        case followsAreFree
    }

    private let fault: Fault
    private unowned let client: SessionClient
    private unowned let world: SessionWorld
    private(set) var session: Session?
    /// Topics that the client has.
    private var live: Set<Topic> = []
    /// Topics whose subscribe has no answer yet.
    private var asked: Set<Topic> = []
    /// An end of a topic that the client did not ask for, until the next message tells why.
    private var loss: Topic?
    private var isSubscribing = false
    /// Whether the token shown last grants the closed conversation.
    private var isGranted = false

    private static let granting = [UInt8(ascii: "g")]
    /// The reference of requests that the client has not made.
    private static let hidden = Reference([UInt8(ascii: "h")])

    init(_ fault: Fault, _ client: SessionClient, _ world: SessionWorld, _ caller: Caller) {
        self.fault = fault
        self.client = client
        self.world = world
        if case .user(let identity) = caller { isGranted = !identity.topics.isEmpty }
        session = Session(
            world.makeServices(budget: self), output: self, sessionID: .main, encoding: world.encoding, caller: caller)
    }

    /// The connection is over.
    func end() { session = nil }

    // MARK: From the client

    /// Processes a request of the client.
    func received(_ request: ClientRequest) {
        var request = request
        switch request.command {
        case .subscribe(let requests):
            let topics = requests.map(\.topic)
            if fault == .leavesBeforeItMay {
                for topic in topics where live.contains(topic) { leave(topic) }
            }
            asked.formUnion(topics)
        case .unsubscribe(let topics):
            if fault == .lastWordIsForgotten, let topic = topics.first, waitsForMembership(topic) {
                return client.send(.unsubscribed(topic: topic), at: .main, ref: request.ref)
            }
        case .authenticate(let token):
            if fault == .refreshTakesNothing, isGranted { request.command = .authenticate(token: Self.granting) }
            isGranted = isGranted || token == Self.granting
        default: break
        }
        if case .subscribe = request.command { isSubscribing = true }
        session?.received(.success(request))
        isSubscribing = false
    }

    private func waitsForMembership(_ topic: Topic) -> Bool {
        guard let session, asked.contains(topic) else { return false }
        return world.fixtures.access.subscribe(topic, session.caller) == .askMembership
    }

    /// Leaves a topic without a word to the client.
    private func leave(_ topic: Topic) {
        session?.received(.success(ClientRequest(command: .unsubscribe([topic]), ref: Self.hidden)))
    }

    // MARK: To the client

    func send(_ message: ServerMessage, at sessionID: SessionID, ref: Reference?) {
        if ref == Self.hidden { return }
        if let topic = loss {
            loss = nil
            let isRefused = if case .error(_, _, topic, _) = message { ref != nil } else { false }
            if !isRefused { client.send(.unsubscribed(topic: topic), at: sessionID, ref: nil) }
        }
        switch message {
        case .subscribed(let topic, _, _, _):
            live.insert(topic)
            asked.remove(topic)
        case .unsubscribed(let topic):
            live.remove(topic)
            asked.remove(topic)
            if fault == .lossIsSilent, ref == nil { return loss = topic }
        case .error("conflict", _, _, _) where fault == .supersededIsSilent:
            return
        case .error(_, SessionWorld.unpaid.message, let topic?, _) where fault == .leavesBeforeItPays:
            if live.remove(topic) != nil {
                client.send(.unsubscribed(topic: topic), at: sessionID, ref: nil)
                leave(topic)
            }
        default: break
        }
        client.send(message, at: sessionID, ref: ref)
    }

    var address: IPAddress? { client.address }
    var load: QueueLoad { client.load }
    var dialectName: String { client.dialectName }
    func topicsHeld(besides sessionID: SessionID) -> Int { client.topicsHeld(besides: sessionID) }
    func firstWaiting(of topic: Topic) -> Position? { nil }
    func send(_ delivery: Delivery, _ encoding: Encoding, at sessionID: SessionID, isBacklog: Bool) -> Bool {
        client.send(delivery, encoding, at: sessionID, isBacklog: isBacklog)
    }
    func show(to tap: WireTap) { client.show(to: tap) }
    func close(_ reason: CloseReason) { client.close(reason) }
    func established() { client.established() }
    func deadlineChanged() { client.deadlineChanged() }

    // MARK: The budget

    func charge(_ cost: SessionCost, _ caller: Caller) -> Int? {
        if fault == .followsAreFree, !isSubscribing, case .joins = cost { return nil }
        return world.charge(cost, caller)
    }
    func payJoin(_ topic: Topic, _ caller: Caller, at address: IPAddress?) -> Refusal? {
        world.payJoin(topic, caller, at: address)
    }
    func room(at address: IPAddress?) -> Int { world.room(at: address) }
    func hold(_ count: Int, at address: IPAddress?) {}
}
