internal import Core
internal import Glibc
internal import Reactors

/// How bytes go out: gathered, at most one record a write, and the orderly end.
extension Connection {
    func writeAgain() {
        isWriteBlocked = false
        if !queue.isEmpty, let token { context.reactor.markDirty(token) }
        updateInterest()
    }

    func write() {
        let room = unsafe tls == nil ? context.gatherBuffer.count : ConnectionContext.recordBytes
        let buffer = unsafe UnsafeMutableRawBufferPointer(rebasing: context.gatherBuffer[..<room])
        var budget = Connection.bytesPerFlush
        var items = 0
        defer {
            if queue.isEmpty { allowedBytes = 0 }
            if items > 0 { context.statistics.itemsWritten.add(items) }
        }
        while !queue.isEmpty, !isWriteBlocked {
            guard budget > 0 else {
                if let token { context.reactor.markDirty(token) }
                return
            }
            let count = unsafe queue.gather(into: buffer)
            let bytes = unsafe UnsafeRawBufferPointer(rebasing: buffer[..<count])
            let outcome = unsafe tls?.write(bytes) ?? plainWrite(bytes)
            context.statistics.writes.add(1)
            switch outcome {
            case .moved(let written):
                pinned = 0
                items += queue.written(written)
                budget -= written
                context.statistics.bytesOut.add(written)
                context.statistics.queuedBytes.add(-written)
            case .wantsRead:
                (pinned, isWriteBlocked) = (count, true)
            case .wantsWrite:
                // Only TLS has taken note of the bytes it could not write.
                (pinned, isWriteBlocked) = (tls == nil ? 0 : count, true)
                updateInterest()
            case .ended, .truncated:
                return abort(.peerGone)
            case .failed(let reason):
                failureText = reason
                return abort(.tlsFailed)
            }
        }
    }

    func plainWrite(_ bytes: UnsafeRawBufferPointer) -> TLSSession.Outcome {
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
