import Core

/// The apps' way to name a topic: a member `<namespace>Id`, such as `"shopId":"42"` for `shop:42`.
///
/// A namespace of several words is written in camel case: `orderItemId` is `order-item`.
public enum TopicAlias {
    /// Appends the member name of a namespace: `order-item` gives `orderItemId`, without quotes.
    public static func append(namespace: some Collection<UInt8>, to name: inout [UInt8]) {
        var hyphen = false
        for byte in namespace {
            if hyphen && !ASCII.isLower(byte) { name.append(UInt8(ascii: "-")) }
            if byte == UInt8(ascii: "-") {
                hyphen = true
                continue
            }
            name.append(hyphen && ASCII.isLower(byte) ? byte & 0xdf : byte)
            hyphen = false
        }
        if hyphen { name.append(UInt8(ascii: "-")) }
        name.append(text: "Id")
    }

    /// The namespace that a member name stands for; `nil` when the name is no alias.
    public static func namespace(ofMember name: some Collection<UInt8>) -> [UInt8]? {
        // An alias is never longer than its namespace and `Id`.
        guard name.count > 2, name.count <= Topic.namespaceBytesMax + 2,
            name.suffix(2).elementsEqual([UInt8(ascii: "I"), UInt8(ascii: "d")])
        else { return nil }
        var namespace: [UInt8] = []
        for byte in name.dropLast(2) {
            if ASCII.isUpper(byte) { namespace.append(UInt8(ascii: "-")) }
            namespace.append(ASCII.lowercased(byte))
        }
        return Topic.isNamespace(namespace) ? namespace : nil
    }
}
