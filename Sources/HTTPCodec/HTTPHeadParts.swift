/// The parts of a head that requests of one connection may share; ``HTTPRequestHead`` explains them.
///
/// Immutable and thread-safe.
final class HTTPHeadParts: Sendable, Equatable {
    let method: HTTPMethod
    let path: [UInt8]
    let query: [UInt8]
    let headers: HTTPHeaders
    let host: [UInt8]
    let keepAlive: Bool
    let expectsContinue: Bool
    let upgrade: HTTPUpgrade?

    init(
        line: HTTPRequestLine, headers: HTTPHeaders, host: [UInt8], keepAlive: Bool, expectsContinue: Bool,
        upgrade: HTTPUpgrade?
    ) {
        method = line.method
        path = line.target.path
        query = line.target.query
        self.headers = headers
        self.host = host
        self.keepAlive = keepAlive
        self.expectsContinue = expectsContinue
        self.upgrade = upgrade
    }

    static func == (left: HTTPHeadParts, right: HTTPHeadParts) -> Bool {
        left.method == right.method && left.path == right.path && left.query == right.query
            && left.headers == right.headers && left.host == right.host && left.keepAlive == right.keepAlive
            && left.expectsContinue == right.expectsContinue && left.upgrade == right.upgrade
    }
}
