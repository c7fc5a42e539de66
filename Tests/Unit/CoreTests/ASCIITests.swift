import Testing

@testable import Core

@Suite struct ASCIITests {
    @Test func classesCoverExactlyTheirBytes() {
        for byte in UInt8(0)...255 {
            let character = byte < 0x80 ? Character(Unicode.Scalar(byte)) : "\u{e9}"
            let ascii = byte < 0x80
            #expect(ASCII.isDigit(byte) == (ascii && "0123456789".contains(character)), "byte \(byte)")
            #expect(ASCII.isLower(byte) == (ascii && "abcdefghijklmnopqrstuvwxyz".contains(character)), "byte \(byte)")
            #expect(ASCII.isUpper(byte) == (ascii && "ABCDEFGHIJKLMNOPQRSTUVWXYZ".contains(character)), "byte \(byte)")
            #expect(ASCII.isLetter(byte) == (ASCII.isLower(byte) || ASCII.isUpper(byte)), "byte \(byte)")
            #expect(ASCII.lowercased(byte) == (ASCII.isUpper(byte) ? byte + 32 : byte), "byte \(byte)")
            let hex = ascii ? character.hexDigitValue.map { UInt8($0) } : nil
            #expect(ASCII.hexValue(byte) == hex, "byte \(byte)")
        }
    }

    @Test func caseIsIgnoredForLettersOnly() {
        #expect(ASCII.equalIgnoringCase("Upgrade".utf8, "uPGRADE".utf8))
        #expect(!ASCII.equalIgnoringCase("upgrade".utf8, "upgrade ".utf8))
        #expect(!ASCII.equalIgnoringCase("[".utf8, "{".utf8))
        #expect(!ASCII.equalIgnoringCase("@".utf8, "`".utf8))
        #expect(!ASCII.equalIgnoringCase("K".utf8, "\u{212a}".utf8), "KELVIN SIGN is not k")
        #expect(!ASCII.equalIgnoringCase("É".utf8, "é".utf8))
    }

    @Test(
        arguments: [
            ("0", 0), ("1", 1), ("42", 42), ("9223372036854775807", Int.max), ("9223372036854775808", nil),
            ("9999999999999999999", nil),
            ("10000000000000000000", nil), ("", nil), ("00", nil), ("01", nil), ("+5", nil), ("-5", nil), (" 5", nil),
            ("5 ", nil), ("5\n", nil), ("0x10", nil),
            ("1e3", nil), ("1_0", nil), ("1.0", nil), ("٣", nil), ("nan", nil), ("５", nil),
        ] as [(String, Int?)])
    func decimal(_ text: String, _ expected: Int?) {
        #expect(ASCII.decimal(text.utf8) == expected)
    }

    @Test(
        arguments: [
            ("-5", -5), ("5", 5), ("-9223372036854775807", -Int.max), ("-9223372036854775808", nil), ("-0", nil),
            ("-", nil), ("--5", nil), ("-05", nil),
            ("- 5", nil), ("+5", nil), ("-+5", nil), ("", nil),
        ] as [(String, Int?)])
    func signedDecimal(_ text: String, _ expected: Int?) {
        #expect(ASCII.signedDecimal(text.utf8) == expected)
    }

    @Test func decimalsAreWrittenAsDescribed() {
        var values = [0, 1, -1, 9, 10, 99, 100, Int.max, Int.min, Int.max - 1, Int.min + 1]
        var power = 1
        for _ in 0..<18 {
            power *= 10
            values += [power - 1, power, power + 1, -power]
        }
        for value in values {
            var text: [UInt8] = []
            text.append(decimal: value)
            #expect(text == Array(value.description.utf8))
            #expect(ASCII.decimalCount(value) == text.count, "\(value)")
        }
    }

    @Test func textIsAppended() {
        var text = Array("a".utf8)
        text.append(text: "b\"é" as StaticString)
        text.append(text: "c" + String(3))
        #expect(text == Array("ab\"éc3".utf8))
    }
}
