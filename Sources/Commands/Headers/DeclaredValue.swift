/// A value that a header declares: its type, and what there is to say about it.
public struct DeclaredValue: Equatable, Sendable {
    /// The type.
    public internal(set) var type: ValueType
    /// The description for people; may be empty.
    public let text: String
    /// The first member without a type, which counts as `any`; `nil`: every member has one.
    let untyped: String?

    /// A value of which a header says nothing.
    static let unknown = DeclaredValue(type: .any, text: "", untyped: nil)

    /// Reads `TYPE [-- text]`, on one line or on several.
    init(header text: String) throws(HeaderFault) {
        var reader = ValueTypeReader(text)
        type = try reader.type()
        self.text = try reader.text()
        untyped = reader.untyped
    }

    init(type: ValueType, text: String, untyped: String? = nil) {
        (self.type, self.text, self.untyped) = (type, text, untyped)
    }
}
