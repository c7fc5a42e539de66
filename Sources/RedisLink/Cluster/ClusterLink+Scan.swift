import Core

/// `SCAN`, which each master answers for its own keys.
extension ClusterLink {
    /// Scans one master after the other by a cursor with three parts: generation, place of the master, and Redis's
    /// cursor there.
    func scan(_ call: RedisCall, _ completion: @escaping Completion) {
        let arguments = call.arguments
        let words = (arguments.count > 1 ? arguments[1] : []).split(separator: UInt8(ascii: "."))
        let numbers = words.dropLast().compactMap { ASCII.decimal($0) }
        let (place, generation) = numbers.count == 2 ? (numbers[1], numbers[0]) : (0, map.generation)
        // With another map the masters have other places, or keys have moved out of the cursor's reach.
        guard generation == map.generation, map.masters.indices.contains(place), let cursor = words.last,
            let link = masters.usable(map.masters[place].id)
        else { return completion(.failure(RedisFailure(.disconnected, detail: "the masters have changed"))) }
        var command = RedisCall("SCAN", Array(cursor))
        for argument in arguments.dropFirst(2) { command.append(argument) }
        let count = map.masters.count
        link.call(command) { result in
            completion(
                result.map { value in
                    guard var fields = value.elements, let next = fields.first?.bytes else { return value }
                    let isOver = next.elementsEqual("0".utf8)
                    guard !isOver || place + 1 < count else { return value }
                    var text: [UInt8] = []
                    text.append(text: "\(generation).\(isOver ? place + 1 : place).")
                    fields[0] = .string(text + (isOver ? [UInt8(ascii: "0")] : next))
                    return .array(fields)
                })
        }
    }
}
