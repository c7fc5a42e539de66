import APIDescription
import Core

/// The targets of the document's references, which `api/components.json` holds.
enum OpenAPIComponents {
    /// The document's `components`, with schemas of commands among them.
    static func node(_ schemas: [(name: String, value: JSONNode)]) -> JSONNode {
        guard case .object(let members) = all else { return all }
        return .object(
            members.map { name, value in
                guard name == "schemas", case .object(let own) = value else { return (name, value) }
                return (name, .object(own + schemas))
            })
    }

    private static let all = OpenAPITemplate.embedded { () throws(OpenAPITemplate.Problem) in
        JSONNode.object(
            try OpenAPITemplate(["operationIdBytesMax": .int(MessageID.bytesMax)])
                .members(of: APIDescription.components))
    }

    /// The meaning of each error, by its status.
    static let errors: [Int: String] = {
        var errors: [Int: String] = [:]
        guard case .object(let responses) = all["responses"] else { return errors }
        for (name, response) in responses {
            guard case .text(let meaning) = response["description"] else { continue }
            if let status = Int(name.dropFirst("Error".count)) { errors[status] = meaning }
        }
        return errors
    }()
}
