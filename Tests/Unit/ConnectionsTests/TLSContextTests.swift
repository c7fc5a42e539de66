import Glibc
import Reactors
import Testing

@testable import Connections

/// Files for one test, removed with the value.
final class TemporaryDirectory {
    let path: String

    init() throws(Errno) {
        var template = Array((P_tmpdir + "/switchboard-test-XXXXXX").utf8CString)
        guard unsafe mkdtemp(&template) != nil else { throw .current }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Writes a file; tells its path.
    func write(_ name: String, _ bytes: [UInt8]) throws(Errno) -> String {
        let file = path + "/" + name
        let raw = try retrying { unsafe open(file, O_WRONLY | O_CREAT | O_TRUNC, 0o600) }
        let descriptor = FileDescriptor(owning: raw)
        let count = try retrying { unsafe Glibc.write(raw, bytes, bytes.count) }
        _ = consume descriptor
        guard count == bytes.count else { throw Errno(code: EIO) }
        return file
    }

    deinit {
        for name in ["cert.pem", "key.pem", "other.pem", "junk.pem"] { _ = unsafe unlink(path + "/" + name) }
        _ = unsafe rmdir(path)
    }
}

/// A development certificate on disk, and contexts that use and trust it.
final class TestCertificate {
    let directory: TemporaryDirectory
    let files: TLSContext.ServerFiles

    init(days: Int = 1, ticketSecret: [UInt8] = []) throws {
        let made = try SelfSignedCertificate.make(days: days)
        directory = try TemporaryDirectory()
        files = TLSContext.ServerFiles(
            certificate: try directory.write("cert.pem", made.certificate),
            key: try directory.write("key.pem", made.key), ticketSecret: ticketSecret)
    }

    func server() throws -> TLSContext { try TLSContext(server: files) }
    func client() throws -> TLSContext { try TLSContext(clientTrusting: files.certificate) }
}

@Suite struct TLSContextTests {
    static func refusal(_ files: TLSContext.ServerFiles) -> String {
        do {
            _ = try TLSContext(server: files)
            return ""
        } catch {
            return error.description
        }
    }

    @Test func aGoodPairIsTakenAndItsEndIsTold() throws {
        let context = try TestCertificate(days: 10).server()
        let seconds = context.notAfter - Clock.wallMs() / 1_000
        #expect((10 * 86_400 - 60...10 * 86_400 + 60).contains(seconds))
    }

    @Test(arguments: [0, -1, -1_000])
    func anExpiredCertificateIsRefused(_ days: Int) throws {
        let certificate = try TestCertificate(days: days)
        #expect(TLSContextTests.refusal(certificate.files).hasSuffix("cert.pem has expired"))
    }

    @Test func missingAndBrokenFilesAreNamed() throws {
        let certificate = try TestCertificate()
        let junk = try certificate.directory.write("junk.pem", Array("not a certificate".utf8))
        var files = certificate.files
        files.certificate = "/nonexistent/cert.pem"
        #expect(TLSContextTests.refusal(files).contains("/nonexistent/cert.pem"))
        files.certificate = junk
        #expect(TLSContextTests.refusal(files).contains("cannot use the certificate in \(junk)"))
        files = certificate.files
        files.key = "/nonexistent/key.pem"
        #expect(TLSContextTests.refusal(files).contains("/nonexistent/key.pem"))
        files.key = junk
        #expect(TLSContextTests.refusal(files).contains("cannot use the key in \(junk)"))
        files.key = files.certificate
        #expect(TLSContextTests.refusal(files).contains("cannot use the key"))
    }

    @Test func aKeyOfAnotherCertificateIsRefused() throws {
        let certificate = try TestCertificate()
        var files = certificate.files
        files.key = try certificate.directory.write("other.pem", try SelfSignedCertificate.make(days: 1).key)
        #expect(TLSContextTests.refusal(files).contains("key"))
    }

    @Test(arguments: [1, 31, 1_025])
    func aTicketSecretOfAnotherSizeIsRefused(_ size: Int) throws {
        let certificate = try TestCertificate(ticketSecret: Array(repeating: 1, count: size))
        #expect(
            TLSContextTests.refusal(certificate.files)
                == "a TLS ticket secret must have 32 to 1024 bytes, not \(size)")
    }

    @Test(arguments: [32, 80, 1_024])
    func aTicketSecretOfAGoodSizeIsTaken(_ size: Int) throws {
        let certificate = try TestCertificate(ticketSecret: Array(repeating: 1, count: size))
        #expect(TLSContextTests.refusal(certificate.files).isEmpty)
    }

    /// The system's reason, not only OpenSSL's.
    @Test func aFileThatCannotBeOpenedIsToldWithTheReason() throws {
        var files = try TestCertificate().files
        files.certificate = "/nonexistent/cert.pem"
        #expect(TLSContextTests.refusal(files).hasSuffix(": No such file or directory"))
    }

    @Test func authoritiesThatCannotBeReadAreRefused() throws {
        let certificate = try TestCertificate()
        let junk = try certificate.directory.write("junk.pem", Array("not a certificate".utf8))
        for file in ["/nonexistent/ca.pem", junk] {
            do {
                _ = try TLSContext(clientTrusting: file)
                Issue.record("\(file) was taken")
            } catch {
                #expect(error.description.contains("cannot read the authorities in \(file)"))
            }
        }
    }

    @Test func everyCertificateIsItsOwn() throws {
        let (one, two) = (try SelfSignedCertificate.make(days: 1), try SelfSignedCertificate.make(days: 1))
        #expect(one.certificate != two.certificate)
        #expect(one.key != two.key)
        #expect(String(decoding: one.certificate, as: UTF8.self).hasPrefix("-----BEGIN CERTIFICATE-----"))
        #expect(String(decoding: one.key, as: UTF8.self).hasPrefix("-----BEGIN PRIVATE KEY-----"))
    }
}
