import Core

/// The topics that a client asked for last, so that its commands need not repeat the shop that they concern.
///
/// The values filled in are no more than the client could have sent itself. A topic is forgotten when it is left or
/// refused, so there are never more than a session may hold.
struct NativeTopicsAsked {
    private struct Asked {
        let topic: Topic
        /// Whether the client was notified that it is subscribed.
        var isJoined: Bool
    }

    /// The topics asked for; the latest is at the end.
    private var asked: [Asked] = []

    /// The client sent a command.
    mutating func requested(_ command: ClientCommand, at socket: NativeSocket) {
        guard !socket.fillers.isEmpty else { return }
        switch command {
        case .subscribe(let requests):
            for request in requests where isFiller(request.topic, at: socket) {
                let isJoined = remove(request.topic)
                asked.append(Asked(topic: request.topic, isJoined: isJoined))
            }
        case .unsubscribe(let topics):
            for topic in topics { remove(topic) }
        default: break
        }
    }

    /// A message was sent to the client.
    mutating func sent(_ message: ServerMessage, at socket: NativeSocket) {
        guard !socket.fillers.isEmpty else { return }
        switch message {
        case .subscribed(let topic, _, _, _) where isFiller(topic, at: socket):
            if let index = asked.firstIndex(where: { $0.topic == topic }) {
                asked[index].isJoined = true
            } else {
                asked.append(Asked(topic: topic, isJoined: true))
            }
        case .unsubscribed(let topic):
            // The answer to an older request; the client may have asked again since.
            if let index = asked.firstIndex(where: { $0.topic == topic }), asked[index].isJoined {
                asked.remove(at: index)
            }
        case .error(let code, _, let topic?, _) where code != ErrorCode.conflict.rawValue:
            asked.removeAll { $0.topic == topic && !$0.isJoined }
        default: break
        }
    }

    /// The values of the arguments that commands may leave out, by the arguments' names.
    func known(at socket: NativeSocket) -> [String: [UInt8]] {
        var known: [String: [UInt8]] = [:]
        for filler in socket.fillers {
            let last = filler.namespace.flatMap { namespace in
                asked.last { $0.topic.namespace.elementsEqual(namespace) }
            }
            known[filler.name] = last.map { Array($0.topic.id) } ?? filler.fallback
        }
        return known
    }

    private func isFiller(_ topic: Topic, at socket: NativeSocket) -> Bool {
        socket.fillers.contains { $0.namespace.map { topic.namespace.elementsEqual($0) } ?? false }
    }

    @discardableResult
    private mutating func remove(_ topic: Topic) -> Bool {
        guard let index = asked.firstIndex(where: { $0.topic == topic }) else { return false }
        return asked.remove(at: index).isJoined
    }
}
