/// The paths of a document, each with its methods.
struct OpenAPIPaths {
    private struct Item {
        let path: String
        var operations: [(name: String, value: JSONNode)]
    }

    private var items: [Item] = []
    private var byShape: [String: Int] = [:]

    /// Adds an operation; `shape` is the path without the names of its parameters.
    ///
    /// Two paths of one shape are one path to OpenAPI: the first names the parameters, and the closure is told it.
    mutating func add(_ method: String, _ path: String, shape: String, _ operation: (_ path: String) -> JSONNode) {
        let index = byShape[shape] ?? items.count
        if index == items.count {
            items.append(Item(path: path, operations: []))
            byShape[shape] = index
        }
        items[index].operations.append((method, operation(items[index].path)))
    }

    /// The `paths` object.
    var node: JSONNode {
        .object(items.map { ($0.path, .object($0.operations)) })
    }
}
