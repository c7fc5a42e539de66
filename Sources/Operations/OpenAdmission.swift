public import Connections
public import Core

/// Admits every connection: the operations listener must answer when clients are refused.
public final class OpenAdmission: Admission {
    /// There is nothing to count.
    public init() {}

    /// Admits it.
    public func admit(_ address: IPAddress?) -> Bool { true }
    /// Admits it.
    public func move(from proxy: IPAddress?, to client: IPAddress?, wasEstablished: Bool) -> Bool { true }
    /// Does nothing.
    public func established(_ address: IPAddress?) {}
    /// Does nothing.
    public func release(_ address: IPAddress?, wasEstablished: Bool) {}
}
