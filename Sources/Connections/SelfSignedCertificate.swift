internal import COpenSSL

/// A self-signed certificate for development: ECDSA P-256, for `localhost` and the loopback addresses.
///
/// Its extended key usage is `serverAuth` (RFC 5280, 4.2.1.12): Apple's systems refuse a TLS server without it.
public enum SelfSignedCertificate {
    /// Makes a key and a certificate valid from now for so many days; both PEM.
    public static func make(days: Int) throws(TLSFailure) -> (certificate: [UInt8], key: [UInt8]) {
        ERR_clear_error()
        guard let key = unsafe swb_make_p256_key(), let certificate = unsafe X509_new() else {
            throw TLSFailure("cannot make a key")
        }
        defer {
            unsafe EVP_PKEY_free(key)
            unsafe X509_free(certificate)
        }
        guard unsafe swb_fill_certificate(certificate, key, Int(days) * 86_400) == 1 else {
            throw TLSFailure("cannot make a certificate")
        }
        let certificatePEM = try unsafe pem { bio in unsafe PEM_write_bio_X509(bio, certificate) }
        let keyPEM = try unsafe pem { bio in unsafe PEM_write_bio_PKCS8PrivateKey(bio, key, nil, nil, 0, nil, nil) }
        return (certificatePEM, keyPEM)
    }

    private static func pem(_ write: (OpaquePointer) -> Int32) throws(TLSFailure) -> [UInt8] {
        guard let bio = unsafe BIO_new(BIO_s_mem()) else { throw TLSFailure("out of memory") }
        defer { unsafe BIO_free(bio) }
        guard unsafe write(bio) == 1 else { throw TLSFailure("cannot write PEM") }
        var bytes = [UInt8](repeating: 0, count: 16_384)
        let count = unsafe BIO_read(bio, &bytes, Int32(bytes.count))
        guard count > 0 else { throw TLSFailure("cannot write PEM") }
        return Array(bytes[..<Int(count)])
    }
}
