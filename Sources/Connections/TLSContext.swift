internal import COpenSSL
internal import Reactors

/// The reason why a certificate, key or trust file was refused.
public struct TLSFailure: Error, Equatable, Sendable, CustomStringConvertible {
    /// The failed step, with OpenSSL's reason.
    public let description: String

    init(_ what: String) {
        let reason = unsafe String(cString: swb_take_tls_error())
        description = reason.isEmpty ? what : "\(what): \(reason)"
    }
}

/// Certificate, key and settings for TLS sessions.
///
/// Shared by all shards and never changed after it was made: a reload makes a new one, and connections keep the one
/// they began with. OpenSSL counts references to an `SSL_CTX` atomically and only reads this one after set-up, so it
/// may cross threads.
@safe public final class TLSContext: @unchecked Sendable {
    /// Sizes a ticket secret may have.
    public static let ticketSecretBytes = 32...1_024
    /// Stands for the present day of the clock (SWB_TICKET_DAY_OF_CLOCK).
    static let dayOfClock = Int64.min

    let context: OpaquePointer
    /// Seconds since 1970 at which the certificate expires; 0 for a client context.
    public let notAfter: Int

    /// The files by which a server proves its identity.
    public struct ServerFiles: Sendable {
        /// PEM: the leaf first, then its chain.
        public var certificate: String
        /// PEM private key.
        public var key: String
        /// 32 to 1024 random bytes that ticket keys are derived from, so that a session of one node resumes at another.
        ///
        /// Empty: the private key, which the nodes of a site share anyway, is used instead.
        public var ticketSecret: [UInt8]

        /// Takes the paths of the files, and the secret.
        public init(certificate: String, key: String, ticketSecret: [UInt8]) {
            self.certificate = certificate
            self.key = key
            self.ticketSecret = ticketSecret
        }
    }

    /// Makes a server's context; every check of a reload is made here, so that a bad file changes nothing.
    ///
    /// Sessions of the context it replaces, `previous`, still resume.
    public convenience init(server files: ServerFiles, replacing previous: TLSContext? = nil) throws(TLSFailure) {
        try self.init(server: files, replacing: previous, ticketDay: TLSContext.dayOfClock)
    }

    /// Makes a server's context on a given day, counted from 1970, for tests of the daily change of ticket keys.
    init(server files: ServerFiles, replacing previous: TLSContext?, ticketDay: Int64) throws(TLSFailure) {
        ERR_clear_error()
        guard let made = unsafe SSL_CTX_new(TLS_server_method()) else { throw TLSFailure("TLS could not be set up") }
        unsafe context = made
        do {
            try unsafe TLSContext.configure(made, files)
            try unsafe TLSContext.setTickets(made, files.ticketSecret, previous, ticketDay)
            notAfter = try unsafe TLSContext.validity(made, files.certificate)
        } catch {
            // An initialiser that throws before everything is set runs no deinit.
            unsafe SSL_CTX_free(made)
            throw error
        }
    }

    /// Makes a client's context that trusts the system's authorities, and those of a PEM file when one is given.
    public init(clientTrusting file: String?) throws(TLSFailure) {
        ERR_clear_error()
        guard let made = unsafe SSL_CTX_new(TLS_client_method()) else { throw TLSFailure("TLS could not be set up") }
        unsafe context = made
        notAfter = 0
        guard unsafe swb_configure_common(made) == 1, unsafe SSL_CTX_set_default_verify_paths(made) == 1 else {
            throw TLSFailure("TLS could not be set up")
        }
        if let file, unsafe SSL_CTX_load_verify_locations(made, file, nil) != 1 {
            throw TLSFailure("cannot read the authorities in \(file)")
        }
    }

    /// Whether the certificate has a host name: its subject alternative names, wildcards included (RFC 6125).
    ///
    /// Addresses are no names. Reads data that OpenSSL has parsed, so any thread may call it.
    public func isNamed(_ host: [UInt8]) -> Bool {
        guard !host.isEmpty, let leaf = unsafe SSL_CTX_get0_certificate(context) else { return false }
        let name = host.map { CChar(bitPattern: $0) }
        return unsafe X509_check_host(leaf, name, name.count, 0, nil) == 1
    }

    private static func configure(_ made: OpaquePointer, _ files: ServerFiles) throws(TLSFailure) {
        guard unsafe swb_configure_common(made) == 1, unsafe swb_configure_server(made) == 1 else {
            throw TLSFailure("TLS could not be set up")
        }
        guard unsafe SSL_CTX_use_certificate_chain_file(made, files.certificate) == 1 else {
            throw TLSFailure("cannot use the certificate in \(files.certificate)")
        }
        guard unsafe SSL_CTX_use_PrivateKey_file(made, files.key, SSL_FILETYPE_PEM) == 1 else {
            throw TLSFailure("cannot use the key in \(files.key)")
        }
        guard unsafe SSL_CTX_check_private_key(made) == 1 else {
            throw TLSFailure("the key in \(files.key) does not belong to the certificate in \(files.certificate)")
        }
    }

    private static func setTickets(
        _ made: OpaquePointer, _ secret: [UInt8], _ previous: TLSContext?, _ day: Int64
    ) throws(TLSFailure) {
        guard secret.isEmpty || ticketSecretBytes.contains(secret.count) else {
            throw TLSFailure("a TLS ticket secret must have 32 to 1024 bytes, not \(secret.count)")
        }
        let done = withExtendedLifetime(previous) {
            unsafe swb_set_tickets(made, secret, secret.count, previous?.context, day)
        }
        guard done == 1 else { throw TLSFailure("TLS ticket keys could not be made") }
    }

    private static func validity(_ made: OpaquePointer, _ file: String) throws(TLSFailure) -> Int {
        let leaf = unsafe SSL_CTX_get0_certificate(made)
        guard unsafe X509_cmp_current_time(X509_get0_notBefore(leaf)) < 0 else {
            throw TLSFailure("the certificate in \(file) is not valid yet")
        }
        guard unsafe X509_cmp_current_time(X509_get0_notAfter(leaf)) > 0 else {
            throw TLSFailure("the certificate in \(file) has expired")
        }
        var days: Int32 = 0
        var seconds: Int32 = 0
        let now = Clock.wallMs() / 1_000
        guard unsafe ASN1_TIME_diff(&days, &seconds, nil, X509_get0_notAfter(leaf)) == 1 else { return now }
        return now + Int(days) * 86_400 + Int(seconds)
    }

    deinit {
        unsafe SSL_CTX_free(context)
    }
}
