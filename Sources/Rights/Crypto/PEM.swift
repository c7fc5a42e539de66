import Core

/// Reads PEM texts (RFC 7468) into DER without OpenSSL's reader, which would ask the terminal for a pass phrase.
enum PEM {
    /// One block: its label and its bytes.
    struct Block: Equatable {
        let label: [UInt8]
        let der: [UInt8]
    }

    /// Bytes of one file.
    static let fileBytesMax = 262_144

    /// Whether the text has a block header anywhere.
    static func isPEM(_ text: [UInt8]) -> Bool {
        let begin = Array("-----BEGIN".utf8)
        guard text.count >= begin.count else { return false }
        return (0...(text.count - begin.count)).contains { text[$0...].starts(with: begin) }
    }

    /// Every block in order; text between blocks is commentary.
    ///
    /// Throws when a block is broken or encrypted.
    static func blocks(_ text: [UInt8]) throws(RightsProblem) -> [Block] {
        guard text.count <= fileBytesMax else { throw .tooLong(bytesMax: fileBytesMax) }
        var blocks: [Block] = []
        var open: (label: [UInt8], body: [UInt8])?
        for line in text.split(separator: UInt8(ascii: "\n")) {
            let line = trimmed(line)
            if let label = label(of: line, "-----BEGIN ") {
                guard open == nil else { throw .pem("a block begins inside another") }
                open = (label, [])
            } else if let label = label(of: line, "-----END ") {
                guard let block = open, block.label == label else { throw .pem("an END line without its BEGIN") }
                guard let der = Base64.decode(block.body, .standard), !der.isEmpty else {
                    throw .pem("a block is not base64")
                }
                blocks.append(Block(label: label, der: der))
                open = nil
            } else if open != nil {
                // "Proc-Type: 4,ENCRYPTED" and its like.
                guard !line.contains(UInt8(ascii: ":")) else { throw .pem("encrypted keys are not accepted") }
                open?.body.append(contentsOf: line)
            }
        }
        guard open == nil else { throw .pem("a block has no END line") }
        return blocks
    }

    private static func label(of line: ArraySlice<UInt8>, _ start: StaticString) -> [UInt8]? {
        var prefix: [UInt8] = []
        prefix.append(text: start)
        let dashes = Array("-----".utf8)
        guard line.starts(with: prefix), line.count >= prefix.count + dashes.count,
            line.suffix(dashes.count).elementsEqual(dashes)
        else { return nil }
        return Array(line.dropFirst(prefix.count).dropLast(dashes.count))
    }

    private static func trimmed(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var line = line
        while let last = line.last, last == 0x0d || last == 0x20 || last == 0x09 { line.removeLast() }
        return line
    }
}
