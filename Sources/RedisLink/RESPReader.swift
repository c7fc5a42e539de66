import CHiredis

/// Reads the replies of one connection to Redis, however its bytes are cut.
///
/// The grammar is that of hiredis's `redisReader`. Callbacks build the values, and refuse those that exceed
/// ``RESPLimits``: hiredis alone allocates any size that an array header announces, and waits for a bulk string of any
/// length. One reader serves one connection and thread; after an error it is unusable.
@safe
public struct RESPReader: ~Copyable {
    private let reader: UnsafeMutablePointer<redisReader>
    private let functions: UnsafeMutablePointer<redisReplyObjectFunctions>
    /// The codec holds the builder unretained; this reference keeps it alive as long as the codec.
    private let builder: RESPBuilder
    /// The number of bytes fed, and the position among them at which the present reply begins.
    private var fedBytes = 0
    private var replyStart = 0
    /// Bytes that the announced bulk string still lacks; 0 when no bulk string is incomplete.
    private var missingBytes = 0
    private var failed = false

    /// The number of bytes given to the codec at once.
    ///
    /// The codec moves its whole buffer down after each 1024 consumed bytes, so only a small buffer keeps reading
    /// linear.
    private static let sliceBytes = 4_096
    /// The most bytes of a length or count: a sign, 19 digits and a line end.
    private static let headerBytesMax = 22

    /// Makes a reader at the start of a stream; throws only ``RESPError/outOfMemory``.
    public init(limits: RESPLimits) throws(RESPError) {
        let functions = UnsafeMutablePointer<redisReplyObjectFunctions>.allocate(capacity: 1)
        unsafe functions.initialize(to: RESPReader.callbacks())
        guard let reader = unsafe redisReaderCreateWithFunctions(functions) else {
            unsafe functions.deallocate()
            throw .outOfMemory
        }
        let builder = RESPBuilder(limits: limits)
        unsafe reader.pointee.privdata = Unmanaged.passUnretained(builder).toOpaque()
        unsafe self.reader = reader
        unsafe self.functions = functions
        self.builder = builder
    }

    deinit {
        unsafe redisReaderFree(reader)
        unsafe functions.deallocate()
    }

    /// Takes bytes from the connection and appends every reply that they complete, in order.
    ///
    /// Replies completed before a fault are appended before it is thrown. *Complexity*: linear in the bytes.
    public mutating func read(_ bytes: Span<UInt8>, into replies: inout [RESPValue]) throws(RESPError) {
        guard !failed else { throw .unusable }
        var offset = 0
        while offset < bytes.count {
            let count = min(bytes.count - offset, max(RESPReader.sliceBytes, missingBytes))
            let fed = unsafe bytes.extracting(offset..<(offset + count)).withUnsafeBytes { slice in
                unsafe redisReaderFeed(reader, slice.baseAddress?.assumingMemoryBound(to: CChar.self), slice.count)
            }
            guard fed == REDIS_OK else { throw fail(.outOfMemory) }
            fedBytes += count
            offset += count
            try takeReplies(into: &replies)
        }
    }

    /// Bytes of the unfinished reply; 0 between replies.
    public var unfinishedBytes: Int { fedBytes - replyStart }

    private mutating func takeReplies(into replies: inout [RESPValue]) throws(RESPError) {
        while true {
            var object: UnsafeMutableRawPointer?
            guard unsafe redisReaderGetReply(reader, &object) == REDIS_OK else { throw fail(codecError()) }
            guard let value = builder.takeRoot() else { break }
            let end = fedBytes - bufferedBytes
            guard end - replyStart <= builder.limits.replyBytesMax else { throw fail(.replyTooLarge) }
            replyStart = end
            replies.append(value)
        }
        try checkUnfinished()
    }

    /// Bytes that the codec holds and has not consumed.
    private var bufferedBytes: Int { unsafe reader.pointee.len - reader.pointee.pos }

    /// Refuses an unfinished reply as soon as its bytes show that it cannot end within the limits.
    private mutating func checkUnfinished() throws(RESPError) {
        missingBytes = 0
        let buffered = bufferedBytes
        let limits = builder.limits
        guard unfinishedBytes <= limits.replyBytesMax else { throw fail(.replyTooLarge) }
        switch unsafe switchboard_reader_kind(reader) {
        case REDIS_REPLY_STATUS, REDIS_REPLY_ERROR:
            // The last byte may be the first half of the line end.
            guard buffered - 1 <= limits.lineBytesMax else { throw fail(.lineTooLong) }
        case REDIS_REPLY_INTEGER, REDIS_REPLY_ARRAY:
            guard buffered <= RESPReader.headerBytesMax else { throw fail(.lineTooLong) }
        case REDIS_REPLY_STRING:
            guard let header = bulkHeader(buffered: buffered) else {
                guard buffered <= RESPReader.headerBytesMax else { throw fail(.lineTooLong) }
                return
            }
            let rest = limits.replyBytesMax - (unfinishedBytes - buffered) - header.bytes - 2
            guard header.announced <= rest else { throw fail(.replyTooLarge) }
            missingBytes = header.bytes + header.announced + 2 - buffered
        default:
            return
        }
    }

    /// The announced length of an incomplete bulk string, and the bytes of its header line; `nil` until that line is
    /// complete.
    ///
    /// The codec has checked the digits of a complete line.
    private func bulkHeader(buffered: Int) -> (announced: Int, bytes: Int)? {
        guard let buffer = unsafe reader.pointee.buf else { return nil }
        let start = unsafe buffer + reader.pointee.pos
        var announced = 0
        for index in 0..<min(buffered, RESPReader.headerBytesMax) {
            let byte = unsafe UInt8(bitPattern: start[index])
            if byte == 0x0d { return index + 1 < buffered ? (announced, index + 2) : nil }
            let (product, overflowed) = announced.multipliedReportingOverflow(by: 10)
            let (sum, carried) = product.addingReportingOverflow(Int(byte &- 0x30))
            announced = overflowed || carried ? Int.max : sum
        }
        return nil
    }

    private func codecError() -> RESPError {
        if let failure = builder.failure { return failure }
        guard unsafe reader.pointee.err != REDIS_ERR_OOM else { return .outOfMemory }
        let text = unsafe withUnsafeBytes(of: &reader.pointee.errstr) { unsafe Array($0.prefix { $0 != 0 }) }
        return .malformed(String(decoding: text, as: UTF8.self))
    }

    private mutating func fail(_ error: RESPError) -> RESPError {
        failed = true
        return error
    }

    /// The callbacks: each finds the builder in the task, and returns it as the value's handle, or NULL to stop.
    ///
    /// They free nothing, since the builder owns every value.
    private static func callbacks() -> redisReplyObjectFunctions {
        unsafe redisReplyObjectFunctions(
            createString: { task, text, count in
                guard let task = unsafe task, let text = unsafe text, let owner = unsafe task.pointee.privdata else {
                    return nil
                }
                let builder = unsafe Unmanaged<RESPBuilder>.fromOpaque(owner).takeUnretainedValue()
                let raw = unsafe UnsafeRawPointer(text).assumingMemoryBound(to: UInt8.self)
                let bytes = unsafe UnsafeBufferPointer(start: raw, count: count)
                // Every string, bulk or line, lies in the codec's buffer with two more bytes behind it.
                let accepted =
                    unsafe task.pointee.type == REDIS_REPLY_STRING
                    ? unsafe builder.addBulk(bytes, terminator: (raw[count], raw[count + 1]))
                    : unsafe builder.addLine(bytes, isError: task.pointee.type == REDIS_REPLY_ERROR)
                return unsafe accepted ? owner : nil
            },
            createArray: { task, count in
                guard let owner = unsafe task?.pointee.privdata else { return nil }
                let builder = unsafe Unmanaged<RESPBuilder>.fromOpaque(owner).takeUnretainedValue()
                return unsafe builder.open(count: Int(count)) ? owner : nil
            },
            createInteger: { task, value in
                guard let owner = unsafe task?.pointee.privdata else { return nil }
                unsafe Unmanaged<RESPBuilder>.fromOpaque(owner).takeUnretainedValue().add(.integer(Int(value)))
                return unsafe owner
            },
            createNil: { task in
                guard let owner = unsafe task?.pointee.privdata else { return nil }
                unsafe Unmanaged<RESPBuilder>.fromOpaque(owner).takeUnretainedValue().add(.null)
                return unsafe owner
            },
            freeObject: nil)
    }
}

@available(*, unavailable)
extension RESPReader: Sendable {}
