internal import CLinux
internal import Glibc

/// A named POSIX thread.
///
/// Everything a thread owns is built inside its body.
public struct Thread: Sendable {
    private let handle: pthread_t

    private final class Body {
        let name: String
        let run: @Sendable () -> Void

        init(name: String, run: @escaping @Sendable () -> Void) {
            self.name = name
            self.run = run
        }
    }

    /// Starts a thread; the name (at most 15 bytes) is what `top -H` shows.
    public static func start(_ name: String, _ run: @escaping @Sendable () -> Void) throws(Errno) -> Thread {
        let body = unsafe Unmanaged.passRetained(Body(name: name, run: run))
        var handle = pthread_t()
        let code = unsafe pthread_create(
            &handle, nil,
            { argument in
                if let argument = unsafe argument {
                    let body = unsafe Unmanaged<Body>.fromOpaque(argument).takeRetainedValue()
                    _ = unsafe swb_name_thread(body.name)
                    body.run()
                }
                return nil
            }, unsafe body.toOpaque())
        guard code == 0 else {
            unsafe body.release()
            throw Errno(code: code)
        }
        return Thread(handle: handle)
    }

    /// Sets how long the calling thread runs before others have their turn, 100 to 100,000 microseconds.
    ///
    /// One that works little, and that everybody waits for, wants a short slice: it then goes before one that is
    /// running. A wish: Linux before 6.12 knows no slices (sched_setattr(2)).
    public static func setSlice(us: UInt32) {
        _ = swb_set_slice(us)
    }

    /// Lets the thread end unwatched; one that is neither joined nor detached keeps its stack for ever.
    public func detach() {
        _ = pthread_detach(handle)
    }

    /// Waits for the thread's end.
    public func join() {
        _ = pthread_join(handle, nil)
    }
}
