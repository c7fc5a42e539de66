internal import Core
internal import Glibc
internal import Reactors

/// The outbound side: gathered writes, at most one record each, and the orderly end.
extension Connection {
    func writeAgain() {
        outbound.isBlocked = false
        if !outbound.queue.isEmpty { askForFlush() }
        updateInterest()
    }

    /// Writes waiting bytes, as far as the peer and the tick's budget allow; `true` when nothing waits any more.
    func write() -> Bool {
        let room = unsafe !needsTLS ? context.gatherBuffer.count : ConnectionContext.recordBytes
        let buffer = unsafe UnsafeMutableRawBufferPointer(rebasing: context.gatherBuffer[..<room])
        var budget = Connection.bytesPerFlush
        while budget > 0 {
            let (count, outcome): (Int, TLSSession.Outcome)
            switch unsafe outbound.next(gathering: buffer) {
            case .nothing:
                return outbound.queue.isEmpty
            case .frame(let frame, let range):
                count = range.count
                outcome = unsafe frame.withUnsafeBytes { unsafe offer(.init(rebasing: $0[range])) }
            case .gathered(let gathered):
                count = gathered
                outcome = unsafe offer(UnsafeRawBufferPointer(rebasing: buffer[..<gathered]))
            }
            switch outcome {
            case .moved(let written):
                let progress = outbound.wrote(written, nowMs: context.reactor.nowMs)
                budget -= written
                context.statistics.itemsWritten.add(progress.items)
                context.statistics.bytesOut.add(written)
                bytesOut += written
                context.statistics.queuedBytes.add(-written)
                if progress.isAll { return true }
            case .wantsRead:
                outbound.blocked(pinned: count)
                return false
            case .wantsWrite:
                // Only TLS remembers the bytes that it could not write.
                outbound.blocked(pinned: needsTLS ? count : 0)
                updateInterest()
                return false
            case .ended, .truncated:
                abort(.peerGone)
                return false
            case .failed(let reason):
                failureText = reason
                abort(.tlsFailed)
                return false
            }
        }
        askForFlush()
        return false
    }

    private func offer(_ bytes: UnsafeRawBufferPointer) -> TLSSession.Outcome {
        context.statistics.writes.add(1)
        return unsafe tls?.write(bytes) ?? plainWrite(bytes)
    }

    private func plainWrite(_ bytes: UnsafeRawBufferPointer) -> TLSSession.Outcome {
        let raw = raw
        do {
            let count = try retrying { unsafe Glibc.send(raw, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL)) }
            return .moved(count)
        } catch {
            return error == .wouldBlock ? .wantsWrite : .truncated
        }
    }

    func halfClose() {
        tls?.sendCloseNotify()
        Sockets.finishWriting(raw)
        phase = .lingering
        phaseDeadlineMs = context.reactor.nowMs + context.limits.closeMs
        updateDeadline()
        updateInterestToRead()
    }
}
