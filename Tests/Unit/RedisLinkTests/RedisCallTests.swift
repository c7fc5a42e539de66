import RedisLink
import Testing

@Suite struct RedisCallTests {
    static let limits = RedisCall.Limits(argumentsMax: 4, bytesMax: 32)

    @Test func argumentsAreEncodedWithTheirLengths() throws {
        var command = RedisCall("SET", bytes("k\r\n"), [])
        command.append(decimal: -7)
        var output = bytes("before")
        try command.encode(into: &output, limits: RedisCallTests.limits)
        #expect(output == bytes("before*4\r\n$3\r\nSET\r\n$3\r\nk\r\n\r\n$0\r\n\r\n$2\r\n-7\r\n"))
        #expect(command.arguments == [bytes("SET"), bytes("k\r\n"), [], bytes("-7")])
        #expect(command.count == 4)
    }

    @Test func everyByteValueSurvives() throws {
        let argument = (0...255).map { UInt8($0) }
        var output: [UInt8] = []
        let limits = RedisCall.Limits(argumentsMax: 10, bytesMax: 1_000)
        try RedisCall("ECHO", argument).encode(into: &output, limits: limits)
        var reader = try RESPReader(limits: RESPLimits(replyBytesMax: 1_000, elementsMax: 10, lineBytesMax: 10))
        var replies: [RESPValue] = []
        try reader.read(output.span, into: &replies)
        #expect(replies == [.array([.string(bytes("ECHO")), .string(argument)])])
    }

    @Test(arguments: [(3, 29), (4, 0), (4, 29), (1, 30), (3, 30)])
    func aCommandBeyondALimitLeavesTheOutputAlone(_ extra: Int, _ size: Int) {
        var command = RedisCall("GET")
        for _ in 1..<extra { command.append("") }
        command.append([UInt8](repeating: 0x61, count: size))
        var output = bytes("x")
        let fits = extra + 1 <= 4 && size + 3 <= 32
        do throws(RedisCall.EncodingError) {
            try command.encode(into: &output, limits: RedisCallTests.limits)
            #expect(fits)
        } catch {
            #expect(!fits)
            #expect(error == .tooLarge)
            #expect(output == bytes("x"))
        }
    }

    @Test func manyArgumentsAreEncoded() throws {
        var command = RedisCall("SUBSCRIBE")
        for number in 0..<5_000 { command.append(bytes("shop:\(number)")) }
        var output: [UInt8] = []
        try command.encode(into: &output, limits: RedisCall.Limits(argumentsMax: 5_001, bytesMax: 1_000_000))
        #expect(output.starts(with: bytes("*5001\r\n$9\r\nSUBSCRIBE\r\n$6\r\nshop:0\r\n")))
        #expect(output.suffix(15).elementsEqual(bytes("$9\r\nshop:4999\r\n")))
    }
}
