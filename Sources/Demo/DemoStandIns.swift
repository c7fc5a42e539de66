public import Core
import HTTPCodec
public import Reactors
public import Service

/// The stand-ins for outside services that the courier of `switchboard dev` calls, at one address of this machine.
public enum DemoStandIns {
    /// A connection of the courier: APNs by its path, and Spotify by every other.
    ///
    /// Thread: the reactor's.
    public static func peer(reactor: Reactor, limits: Limits, phones: DemoPhones) -> OperationsPeer {
        OperationsPeer(
            reactor: reactor, limits: limits, methods: [.get, .head, .post], bodyBytesMax: DemoPhones.pushBytesMax
        ) { head, body in
            head.path.starts(with: DemoPhones.path.utf8)
                ? phones.answer(to: head, body: body) : DemoCatalogue.answer(to: head)
        }
    }
}
