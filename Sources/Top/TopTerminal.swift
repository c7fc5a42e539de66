import CLinux
import Glibc
import Reactors
import Service

/// The terminal of the program: its size, its keys, and the bytes that it shows.
///
/// A standard output that is no terminal gets bytes as they are. Thread: the reactor's.
final class TopTerminal {
    /// Whether frames replace each other and keys are read: standard output is a terminal.
    let isScreen: Bool
    /// The capabilities of the terminal.
    let screen: TopScreen

    private let output: TopOutput
    private var input: TopInput?
    /// The settings to restore; `nil` while they are the terminal's own.
    private var saved: termios?
    private var isEntered = false

    /// Whether standard output is a terminal.
    static var isOutput: Bool { isatty(STDOUT_FILENO) == 1 }

    /// The time for which the end of the program waits for the terminal, milliseconds.
    private static let leaveMs: Int32 = 500

    /// Takes keys by `onKeys`; `onLost` is called when the terminal or the reader has gone.
    ///
    /// Without `isScreen` bytes are written as they are.
    init(_ reactor: Reactor, isScreen: Bool, onKeys: @escaping ([UInt8]) -> Void, onLost: @escaping () -> Void) {
        self.isScreen = isScreen
        screen = TopScreen(isTerminal: isScreen) { Environment.value($0) }
        output = TopOutput(reactor, isScreen: isScreen, onLost: onLost)
        if isScreen, isatty(STDIN_FILENO) == 1 {
            input = try? TopInput(reactor, onKeys: onKeys, onLost: onLost)
        }
    }

    /// The present size; the usual one where it is not known.
    var size: TopSize {
        var (columns, rows): (UInt16, UInt16) = (0, 0)
        guard unsafe swb_window_size(STDOUT_FILENO, &columns, &rows) == 0, columns > 0, rows > 0 else { return .usual }
        return TopSize(columns: Int(columns), rows: Int(rows))
    }

    /// Lets keys arrive at once and without echo, and shows an empty screen.
    func enter() {
        guard isScreen, !isEntered else { return }
        isEntered = true
        if input != nil { takeKeys() }
        output.write(Array(screen.enter.utf8))
    }

    private func takeKeys() {
        var settings = termios()
        guard unsafe tcgetattr(STDIN_FILENO, &settings) == 0 else { return }
        saved = settings
        settings.c_lflag &= ~tcflag_t(ICANON | ECHO)
        // A screen that was halted by a key would keep the program from ending.
        settings.c_iflag &= ~tcflag_t(IXON)
        _ = unsafe tcsetattr(STDIN_FILENO, TCSANOW, &settings)
    }

    /// Gives the terminal back as it was.
    func leave() {
        guard isEntered else { return }
        isEntered = false
        output.finish(Array(screen.leave.utf8), waitMs: TopTerminal.leaveMs)
        guard var settings = saved else { return }
        saved = nil
        _ = unsafe tcsetattr(STDIN_FILENO, TCSANOW, &settings)
    }

    /// Shows lines; left out while the terminal has not taken the frame before.
    func show(_ lines: [TopLine]) { output.offer(screen.bytes(lines)) }

    /// Writes a text to its end; false when the reader has gone.
    func print(_ bytes: [UInt8]) -> Bool { output.finish(bytes, waitMs: -1) }

    /// Ends reading and writing.
    func stop() {
        leave()
        input?.stop()
        output.stop()
    }
}
