/// A list that mostly has one element, which lies inline: only further ones need storage.
struct Few<Element>: RandomAccessCollection, MutableCollection {
    private var only: Element?
    private var others: [Element] = []

    init() {}

    var startIndex: Int { 0 }
    var endIndex: Int { only == nil ? 0 : 1 + others.count }

    subscript(index: Int) -> Element {
        get {
            guard index == 0, let only else { return others[index - 1] }
            return only
        }
        _modify {
            if index == 0, var element = only.take() {
                defer { only = element }
                yield &element
            } else {
                yield &others[index - 1]
            }
        }
    }

    mutating func append(_ element: Element) {
        if only == nil { only = element } else { others.append(element) }
    }

    /// Removes an element, whose place the last one takes.
    mutating func removeSwapping(at index: Int) {
        guard let last = others.popLast() else {
            only = nil
            return
        }
        if index < endIndex { self[index] = last }
        if others.isEmpty { others = [] }
    }

    mutating func remove(at index: Int) -> Element {
        let element = self[index]
        if index > 0 {
            others.remove(at: index - 1)
        } else {
            only = others.isEmpty ? nil : others.removeFirst()
        }
        if others.isEmpty { others = [] }
        return element
    }
}
