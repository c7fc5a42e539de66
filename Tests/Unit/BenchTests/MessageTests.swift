import Testing

@testable import switchboard_bench

@Suite struct MessageTests {
    private func read(_ reader: inout MarkerReader, _ text: String) -> MarkerReader.Marker? {
        let bytes = Array(text.utf8)
        return reader.read(bytes.span)
    }

    @Test(arguments: [42, 43, 200, 5_000]) func itHasTheSizeThatWasAskedFor(_ bytes: Int) {
        let data = Message.data(sequence: 7, dueUs: 123_456_789, bytes: bytes)
        #expect(data.count == bytes)
        let text = String(decoding: data, as: UTF8.self)
        #expect(text.hasPrefix("{\"m\":\"0000000007:0000000123456789\",\"p\":\""))
        #expect(text.hasSuffix("\"}"))
    }

    /// In every envelope, and when the envelope grows from one message to the next.
    @Test func itIsFoundInWhateverIsAroundIt() {
        var reader = MarkerReader()
        for (sequence, dueUs) in [
            (1, 0), (9_999_999_999, 9_999_999_999_999_999), (1_234_567_890, 1_795_205_000_123_456),
        ] {
            let data = String(decoding: Message.data(sequence: sequence, dueUs: dueUs, bytes: 60), as: UTF8.self)
            for (before, after) in [
                ("", ""), ("{\"event\":\"e\",\"data\":", ",\"offset\":9}"), ("42[\"e\",", "]"),
                ("{\"topic\":\"shop:bench\",\"event\":\"e\",\"data\":", "}"), ("{\"m\":\"no\",\"data\":", "}"),
            ] {
                let found = read(&reader, before + data + after)
                #expect(found == .init(sequence: sequence, dueUs: dueUs), "\(before)")
            }
        }
    }

    /// No byte but a digit stands for one, in any place.
    @Test func onlyDigitsCount() {
        let good = Array(Message.data(sequence: 1_234_567_890, dueUs: 9_876_543_210_123_456, bytes: 60))
        for index in 6..<33 where index != 16 {
            for byte: UInt8 in [0x00, 0x2f, 0x3a, 0x20, 0x6d, 0x80, 0xb0, 0xff] {
                var (bad, reader) = (good, MarkerReader())
                bad[index] = byte
                let found = reader.read(bad.span)
                #expect(found == nil, "byte \(byte) at \(index)")
            }
        }
    }

    @Test func whatIsCutOrMissingIsNotFound() {
        let data = Array(Message.data(sequence: 1, dueUs: 2, bytes: 42))
        var reader = MarkerReader()
        for count in 0..<33 {
            let cut = Array(data[..<count])
            let found = reader.read(cut.span)
            #expect(found == nil, "\(count) bytes")
        }
        #expect(read(&reader, "{\"event\":\"ack\",\"ref\":1}") == nil)
    }
}
