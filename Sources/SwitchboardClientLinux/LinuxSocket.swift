internal import Foundation
internal import SwitchboardClient
internal import Synchronization

/// The orders of other threads to a connection's thread.
final class LinuxSocket: SwitchboardSocket {
    /// The pending orders.
    struct Orders: Sendable {
        /// The texts to send, in this order.
        var texts: [String] = []
        /// The code to close the connection with; `nil` while it stays open.
        var closeCode: Int?
    }

    private struct State: Sendable {
        var orders = Orders()
        let waker = Waker()
        var isOver = false
    }

    private let state = Mutex(State())

    /// Passes a text to the thread; does nothing once the thread has ended.
    func send(_ text: String) {
        change { $0.texts.append(text) }
    }

    /// Orders the thread to close the connection; the first code counts.
    func close(code: Int) {
        change { $0.closeCode = $0.closeCode ?? code }
    }

    private func change(_ body: (inout Orders) -> Void) {
        state.withLock { state in
            guard !state.isOver else { return }
            body(&state.orders)
            state.waker.wake()
        }
    }

    /// Wakes the thread.
    var waker: Waker { state.withLock { $0.waker } }

    /// Whether the connection is to end.
    var isClosing: Bool { state.withLock { $0.orders.closeCode != nil } }

    /// Takes the texts since the last call; a close code stays.
    func takeOrders() -> Orders {
        state.withLock { state in
            defer { state.orders.texts = [] }
            return state.orders
        }
    }

    /// Records that the thread has ended.
    func end() {
        state.withLock { state in
            state.isOver = true
            state.waker.stop()
        }
    }
}

/// One connection, from the dial to its end.
///
/// Thread: its own.
final class LinuxConversation {
    private let socket: LinuxSocket
    private let request: SocketRequest
    private let events: @Sendable (SocketEvent) -> Void
    private var reader = FrameReader()
    private var out = Outgoing()
    /// Whether more bytes wait than allowed.
    private var isFull = false
    /// The code that ends the connection, and the time by which it ends in any case.
    private var closing: (code: Int, untilSeconds: Double)?
    /// Seconds that a close waits for its answer.
    private static let closeSeconds = 2.0

    /// A connection that `run` dials.
    init(_ socket: LinuxSocket, _ request: SocketRequest, _ events: @escaping @Sendable (SocketEvent) -> Void) {
        self.socket = socket
        self.request = request
        self.events = events
    }

    private func over(_ message: String, code: Int = 0, httpStatus: Int? = nil) -> SocketEvent {
        .closed(code: code, httpStatus: httpStatus, message: message)
    }

    /// Runs the connection, and returns its end.
    func run(trusting file: String?) -> SocketEvent {
        ByteLink.ignoreBrokenPipes()
        guard let host = request.url.host, let scheme = request.url.scheme, ["ws", "wss"].contains(scheme) else {
            return .failed(.badAddress, "An address begins with wss:// or ws://, and names a host.")
        }
        let isSecure = scheme == "wss"
        let isOver: () -> Bool = { [socket] in socket.isClosing }
        do {
            let link = try ByteLink.dial(host, request.url.port ?? (isSecure ? 443 : 80), isOver: isOver)
            if isSecure { try link.secure(host, trusting: file, isOver: isOver) }
            return upgrade(link, host) ?? converse(link)
        } catch {
            return .failed(error.code, error.message)
        }
    }

    // MARK: The upgrade (RFC 6455 section 4)

    private func upgrade(_ link: ByteLink, _ host: String) -> SocketEvent? {
        let key = Data((0..<16).map { _ in UInt8.random(in: .min ... .max) }).base64EncodedString()
        let url = request.url
        let path = (url.path.isEmpty ? "/" : url.path) + (url.query.map { "?" + $0 } ?? "")
        let name = host.contains(":") ? "[\(host)]" : host
        var lines = [
            "GET \(path) HTTP/1.1", "Host: \(name)\(url.port.map { ":\($0)" } ?? "")", "Upgrade: websocket",
            "Connection: Upgrade", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: \(key)",
        ]
        if !request.protocols.isEmpty {
            lines.append("Sec-WebSocket-Protocol: \(request.protocols.joined(separator: ", "))")
        }
        guard lines.allSatisfy({ !$0.utf8.contains(10) && !$0.utf8.contains(13) }) else { return over("bad address") }
        say(Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8))
        var head: [UInt8] = []
        while head.count < 16_384, !socket.isClosing {
            guard flush(link), let bytes = read(link) else { break }
            head += bytes
            if !zip(head, "HTTP/".utf8).allSatisfy({ $0 == $1 }) {
                return head.first == LinuxConversation.alert ? hungUp : .failed(.wrongProtocol, "It speaks no HTTP.")
            }
            guard let end = LinuxConversation.headEnd(head) else {
                if bytes.isEmpty { pause(link) }
                continue
            }
            let text = String(decoding: head[..<end], as: UTF8.self)
            if let refusal = judge(text, key) { return refusal }
            events(.opened)
            return handle(reader.take(head[end...]))
        }
        guard head.isEmpty, request.url.scheme == "ws", !socket.isClosing else {
            return .failed(.unreachable, "The upgrade was not answered.")
        }
        return hungUp
    }

    /// The first byte of an alert of TLS (RFC 8446 section 5.1).
    private static let alert: UInt8 = 21

    private var hungUp: SocketEvent {
        .failed(.tlsRequired, "The server hung up without an answer. A port for TLS does that: try wss://.")
    }

    private static func headEnd(_ bytes: [UInt8]) -> Int? {
        guard bytes.count >= 4 else { return nil }
        return (3..<bytes.count).first { bytes[$0 - 3...$0].elementsEqual([13, 10, 13, 10]) }.map { $0 + 1 }
    }

    private func judge(_ head: String, _ key: String) -> SocketEvent? {
        let lines = head.components(separatedBy: "\r\n")
        let status = lines[0].split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        guard status == 101 else { return over("the upgrade was refused", httpStatus: status) }
        let proof = ByteLink.proof(of: key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11")
        let isProven = lines.contains { line in
            let parts = line.split(separator: ":", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
            return parts.count == 2 && parts[0].lowercased() == "sec-websocket-accept" && parts[1] == proof
        }
        return isProven ? nil : .failed(.notWebSocket, "The server's answer proves no WebSocket.")
    }

    // MARK: Frames

    private func converse(_ link: ByteLink) -> SocketEvent {
        while true {
            let orders = socket.takeOrders()
            if closing == nil { for text in orders.texts { say(FrameWriter.text(text)) } }
            if let code = orders.closeCode, closing == nil { close(code) }
            guard flush(link), !isFull, let bytes = read(link) else { break }
            if let end = handle(reader.take(bytes)) {
                _ = flush(link)
                return end
            }
            if let closing, LinuxConversation.nowSeconds >= closing.untilSeconds { break }
            if bytes.isEmpty { pause(link) }
        }
        return over("the connection ended", code: closing?.code ?? 0)
    }

    private static var nowSeconds: Double { ProcessInfo.processInfo.systemUptime }

    private func close(_ code: Int) {
        say(FrameWriter.close(code))
        closing = (code, LinuxConversation.nowSeconds + LinuxConversation.closeSeconds)
    }

    private func handle(_ pieces: [FrameReader.Piece]) -> SocketEvent? {
        for piece in pieces {
            switch piece {
            case .text(let text): if closing == nil { events(.text(text)) }
            case .ping(let payload): say(FrameWriter.pong(payload))
            case .close(let code):
                if closing == nil { say(FrameWriter.close(code == 1_005 ? 1_000 : code)) }
                return over("closed", code: closing?.code ?? code)
            case .fault(let code):
                say(FrameWriter.close(code))
                return over("the gateway's frames are wrong", code: code)
            }
        }
        return nil
    }

    private func say(_ frames: [UInt8]) { if !out.add(frames) { isFull = true } }

    /// Writes the waiting bytes, as far as possible; `false` at the connection's end.
    private func flush(_ link: ByteLink) -> Bool {
        var done = 0
        defer { out.written(done) }
        while done < out.bytes.count {
            switch link.write(out.bytes[done...]) {
            case .bytes(let count): done += count
            case .wait: return true
            case .over: return false
            }
        }
        return true
    }

    /// The bytes received; empty when there are none, `nil` at the connection's end.
    private func read(_ link: ByteLink) -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 16_384)
        switch link.read(&buffer) {
        case .bytes(let count): return Array(buffer.prefix(count))
        case .wait: return []
        case .over: return nil
        }
    }

    private func pause(_ link: ByteLink) {
        link.pause(isWriting: !out.bytes.isEmpty, waker: socket.waker, atMostMs: closing == nil ? -1 : 200)
    }
}
