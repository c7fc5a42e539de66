import Core
import HTTPCodec
import Rights

/// The entity tag of a body, by which a client asks whether its copy is still right.
struct EntityTag {
    /// The tag, in quotes.
    let value: HTTPHeaderValue

    /// The tag of a body; equal bodies have equal tags.
    init(of body: [UInt8]) {
        let quote = UInt8(ascii: "\"")
        value = HTTPHeaderValue([quote] + Base64.encode(Digest.sha256(body).prefix(18), .url) + [quote]) ?? "\"\""
    }

    /// Whether a request names the tag as that of the client's copy (RFC 9110 section 13.1.2).
    func isKnown(to head: HTTPRequestHead) -> Bool {
        let weak = Array("W/".utf8)
        return head.headers.tokens(of: "if-none-match").contains { tag in
            tag.elementsEqual("*".utf8)
                || (tag.starts(with: weak) ? tag.dropFirst(2) : tag[...]).elementsEqual(value.bytes)
        }
    }
}
