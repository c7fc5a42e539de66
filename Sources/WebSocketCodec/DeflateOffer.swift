import Core

/// One element of `Sec-WebSocket-Extensions` as a client offers it (RFC 6455 section 9.1).
struct DeflateOffer {
    /// A parameter and its value; `nil` for one without a value.
    struct Parameter: Equatable {
        let name: [UInt8]
        let value: [UInt8]?
    }

    let name: [UInt8]
    let parameters: [Parameter]

    /// Reads one element; `nil` when it breaks the grammar.
    init?(_ element: ArraySlice<UInt8>) {
        let parts = FieldText.split(element, at: UInt8(ascii: ";"))
        guard let name = parts.first, FieldText.isToken(name) else { return nil }
        var parameters: [Parameter] = []
        for part in parts.dropFirst() {
            guard let parameter = DeflateOffer.parameter(part) else { return nil }
            parameters.append(parameter)
        }
        self.name = Array(name)
        self.parameters = parameters
    }

    /// The parameters by name; `nil` when one occurs twice.
    var byName: [[UInt8]: Parameter]? {
        var found: [[UInt8]: Parameter] = [:]
        for parameter in parameters where found.updateValue(parameter, forKey: parameter.name) != nil { return nil }
        return found
    }

    /// `token`, `token=token` or `token="token"`.
    private static func parameter(_ text: ArraySlice<UInt8>) -> Parameter? {
        guard let equals = text.firstIndex(of: UInt8(ascii: "=")) else {
            return FieldText.isToken(text) ? Parameter(name: Array(text), value: nil) : nil
        }
        let name = FieldText.trimmed(text[..<equals])
        var value = FieldText.trimmed(text[text.index(after: equals)...])
        if value.count >= 2, value.first == UInt8(ascii: "\""), value.last == UInt8(ascii: "\"") {
            value = value.dropFirst().dropLast()
        }
        guard FieldText.isToken(name), FieldText.isToken(value) else { return nil }
        return Parameter(name: Array(name), value: Array(value))
    }
}
