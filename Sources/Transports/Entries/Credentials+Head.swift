public import HTTPCodec
public import Rights

extension Credentials {
    /// Reads the credentials of a request.
    public init(_ head: HTTPRequestHead) {
        self.init(apiKeys: head.headers.values(of: "apikey"), authorizations: head.headers.values(of: "authorization"))
    }
}
