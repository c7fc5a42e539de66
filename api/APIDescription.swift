/// The description of the gateway's own routes, as texts that OpenAPI's JSON is made of.
///
/// The build embeds the files beside this one; `Sources/Commands/OpenAPI/OpenAPITemplate.swift` says how they are read.
public enum APIDescription {
    /// The operation of each route, by the route's name.
    public static let routes = text("routes.json")
    /// Pieces that several operations have, by names of their own.
    public static let parts = text("parts.json")
    /// The targets of references: schemas, and the responses that are errors.
    public static let components = text("components.json")

    private static func text(_ name: String) -> [UInt8] {
        guard let file = EmbeddedFiles.all.first(where: { $0.path == name }) else {
            preconditionFailure("api/\(name) is not embedded")
        }
        return Array(file.text.utf8)
    }
}
