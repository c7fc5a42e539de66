internal import CLinux
public import Core
internal import Glibc
public import Reactors

/// Looks a host name up without blocking the reactor: getaddrinfo(3) runs on a short-lived thread.
///
/// Used for every connect to Redis anew, so that a changed name is followed. Thread: the reactor's.
public final class Resolver: EventSource {
    private final class Answer: Sendable {
        let addresses = Guarded<[IPAddress]?>(nil)
    }

    private let reactor: Reactor
    private let answer = Answer()
    private let wake: Wake
    private var token: EventToken?
    private let completion: ([IPAddress]) -> Void

    /// Starts a look-up; `completion` receives the addresses, none when the name has none, on the reactor's thread.
    ///
    /// A numeric address needs no thread and completes before this returns.
    @discardableResult
    public static func resolve(
        _ host: String, on reactor: Reactor, completion: @escaping ([IPAddress]) -> Void
    ) throws(Errno) -> Resolver? {
        if let numeric = IPAddress(text: host.utf8) {
            completion([numeric])
            return nil
        }
        return try Resolver(host: host, reactor: reactor, completion: completion)
    }

    private init(host: String, reactor: Reactor, completion: @escaping ([IPAddress]) -> Void) throws(Errno) {
        self.reactor = reactor
        self.completion = completion
        wake = try Wake()
        token = try reactor.add(self, descriptor: wake.raw, interest: .read)
        let (answer, wake) = (answer, wake)
        let thread = try Thread.start("resolver") {
            let addresses = Resolver.lookUp(host)
            answer.addresses.withLock { $0 = addresses }
            wake.signal()
        }
        thread.detach()
    }

    /// Takes the answer.
    public func ready(_ readiness: Readiness) {
        guard let token, let addresses = answer.addresses.withLock({ $0 }) else { return }
        reactor.remove(token)
        self.token = nil
        completion(addresses)
    }

    /// Does nothing: the connect that waits for the look-up has the deadline.
    public func deadlineReached() {}
    /// Does nothing: there is nothing to write.
    public func flush() {}
    /// Does nothing: there is nothing else to free.
    public func released() {}

    private static func lookUp(_ host: String) -> [IPAddress] {
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard unsafe getaddrinfo(host, nil, &hints, &list) == 0 else { return [] }
        defer { unsafe freeaddrinfo(list) }
        var addresses: [IPAddress] = []
        var next = unsafe list
        while let entry = unsafe next, addresses.count < 16 {
            if let name = unsafe entry.pointee.ai_addr {
                let bytes = unsafe UnsafeRawBufferPointer(start: name, count: Int(entry.pointee.ai_addrlen))
                if unsafe entry.pointee.ai_family == AF_INET, bytes.count >= 8 {
                    unsafe IPAddress(bytes: Array(bytes[4..<8])).map { addresses.append($0) }
                } else if unsafe entry.pointee.ai_family == AF_INET6, bytes.count >= 24 {
                    unsafe IPAddress(bytes: Array(bytes[8..<24])).map { addresses.append($0) }
                }
            }
            unsafe next = entry.pointee.ai_next
        }
        return addresses
    }
}
