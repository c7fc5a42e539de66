/// A first-in, first-out queue in one buffer that is reused: once warm it does not allocate.
public struct Ring<Element> {
    private var slots: [Element?] = []
    private var head = 0
    /// The number of elements.
    public private(set) var count = 0

    /// An empty ring; its buffer doubles up to the size that is really used.
    public init() {}

    /// Whether it has no elements.
    public var isEmpty: Bool { count == 0 }

    /// The oldest element.
    public var first: Element? { count == 0 ? nil : slots[head] }

    /// The newest element.
    public var last: Element? { count == 0 ? nil : slots[index(count - 1)] }

    /// Adds an element after all others.
    public mutating func append(_ element: Element) {
        if count == slots.count { grow() }
        slots[index(count)] = element
        count += 1
    }

    /// Takes the oldest element.
    public mutating func popFirst() -> Element? {
        guard count > 0 else { return nil }
        let element = slots[head].take()
        head = index(1)
        count -= 1
        return element
    }

    /// Takes the newest element.
    public mutating func popLast() -> Element? {
        guard count > 0 else { return nil }
        count -= 1
        return slots[index(count)].take()
    }

    /// Drops every element and the buffer.
    public mutating func removeAll() {
        slots = []
        head = 0
        count = 0
    }

    private func index(_ offset: Int) -> Int {
        let position = head + offset
        return position < slots.count ? position : position - slots.count
    }

    private mutating func grow() {
        var larger: [Element?] = []
        let capacity = max(16, slots.count * 2)
        larger.reserveCapacity(capacity)
        for offset in 0..<count { larger.append(slots[index(offset)]) }
        while larger.count < capacity { larger.append(nil) }
        slots = larger
        head = 0
    }
}

extension Ring: Sendable where Element: Sendable {}
