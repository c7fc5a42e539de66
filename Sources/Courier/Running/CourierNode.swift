public import Configuration
import Reactors
public import Service

/// A courier on a thread of its own.
public enum CourierNode {
    /// Reads every file and starts the thread; Redis may become available later.
    ///
    /// It is ready once it is connected and receives events.
    ///
    /// Stopping lets work in hand end and waits a few seconds at most.
    public static func start(_ settings: CourierSettings, log: Log) throws(StartProblem) -> NodeThread {
        let parts = try CourierParts(settings, log: log)
        return try NodeThread(
            "courier", operations: parts.operationsListener?.address, stalls: parts.stalls, log: log
        ) { reactor, onReady throws(Errno) in
            try Courier(parts, reactor: reactor, onReady: onReady)
        }
    }
}
