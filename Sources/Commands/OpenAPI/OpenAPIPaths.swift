/// The paths of a document, each with its methods.
struct OpenAPIPaths: Sendable {
    /// One method of a path, encoded once.
    private struct Operation: Sendable {
        let method: String
        let endpoint: Endpoint
        let bytes: [UInt8]
    }

    private struct Item: Sendable {
        let path: String
        var operations: [Operation]
    }

    private var items: [Item] = []
    private var byShape: [String: Int] = [:]

    /// Adds an operation; `shape` is the path without the names of its parameters.
    ///
    /// Two paths of one shape are one path to OpenAPI: the first names the parameters, and the closure receives it.
    mutating func add(
        _ method: String, _ path: String, shape: String, _ endpoint: Endpoint, _ operation: (_ path: String) -> JSONNode
    ) {
        let index = byShape[shape] ?? items.count
        if index == items.count {
            items.append(Item(path: path, operations: []))
            byShape[shape] = index
        }
        let bytes = operation(items[index].path).bytes
        items[index].operations.append(Operation(method: method, endpoint: endpoint, bytes: bytes))
    }

    /// The `paths` object of the wanted endpoints.
    func node(_ isWanted: (Endpoint) -> Bool) -> JSONNode {
        .object(
            items.compactMap { item in
                let operations = item.operations.filter { isWanted($0.endpoint) }
                guard !operations.isEmpty else { return nil }
                return (item.path, .object(operations.map { ($0.method, .raw($0.bytes)) }))
            })
    }
}
