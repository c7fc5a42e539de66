/// A value that few owners have: one word, and storage of its own once there is a value.
///
/// A copy has a value of its own.
struct Rare<Value> {
    private var stored: [Value] = []

    /// The value, changed in place; `nil` frees the storage.
    var value: Value? {
        get { stored.first }
        _modify {
            var value = stored.popLast()
            defer { if let value { stored.append(value) } else { stored = [] } }
            yield &value
        }
    }
}
