internal import CLinux
internal import Glibc

/// A named POSIX thread.
///
/// A thread's body builds everything that the thread owns.
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

    /// Starts a thread; `top -H` shows the name, which has at most 15 bytes.
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

    /// Sets the time for which the calling thread runs before others have their turn, 100 to 100,000 microseconds.
    ///
    /// A thread that works little and that all others wait for should have a short slice: it then runs before a running
    /// one. This is only a request: Linux before 6.12 has no slices (sched_setattr(2)).
    public static func setSlice(us: UInt32) {
        _ = swb_set_slice(us)
    }

    /// Lets the thread end without a join; a thread that is neither joined nor detached never frees its stack.
    public func detach() {
        _ = pthread_detach(handle)
    }

    /// Waits for the thread's end.
    public func join() {
        _ = pthread_join(handle, nil)
    }
}
