// TLS: the macros of <openssl/ssl.h> as functions, and the two callbacks Transport sets.
#ifndef SWITCHBOARD_COPENSSL_TLS_H
#define SWITCHBOARD_COPENSSL_TLS_H

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <string.h>

// ALPN, strict (RFC 7301 section 3.2): a client that offers protocols must offer http/1.1.
static inline int swb_select_http11(SSL *ssl, const unsigned char **out, unsigned char *out_length,
                                    const unsigned char *in, unsigned int in_length, void *argument) {
    static const unsigned char http11[] = {8, 'h', 't', 't', 'p', '/', '1', '.', '1'};
    (void)ssl;
    (void)argument;
    if (SSL_select_next_proto((unsigned char **)out, out_length, http11, sizeof http11, in, in_length) ==
        OPENSSL_NPN_NEGOTIATED) {
        return SSL_TLSEXT_ERR_OK;
    }
    return SSL_TLSEXT_ERR_ALERT_FATAL;
}

// What servers and clients share: TLS 1.2+, AEAD with forward secrecy, no renegotiation, no compression, small idle
// connections (released buffers), retries with moved buffers, partial writes.
static inline int swb_configure_common(SSL_CTX *context) {
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                                  SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE);
    SSL_CTX_set_read_ahead(context, 1);
    if (SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) != 1) return 0;
    if (SSL_CTX_set1_groups_list(context, "X25519:P-256:P-384") != 1) return 0;
    // AES-128 and SHA-256 first, as for TLS 1.2 below: the key schedule hashes much, and processors have instructions
    // for SHA-256 but not for SHA-384.
    if (SSL_CTX_set_ciphersuites(context,
                                 "TLS_AES_128_GCM_SHA256:TLS_CHACHA20_POLY1305_SHA256:TLS_AES_256_GCM_SHA384") != 1) {
        return 0;
    }
    return SSL_CTX_set_cipher_list(context,
                                   "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:"
                                   "ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305:"
                                   "ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384");
}

// Server side: stateless tickets, one a handshake, no server cache (CVE-2024-2511), no early data.
static inline int swb_configure_server(SSL_CTX *context) {
    static const unsigned char id[] = "switchboard";
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_max_early_data(context, 0);
    SSL_CTX_set_alpn_select_cb(context, swb_select_http11, NULL);
    return SSL_CTX_set_session_id_context(context, id, sizeof id - 1) == 1 && SSL_CTX_set_num_tickets(context, 1) == 1;
}

// Client side: verify the chain and the name; the name goes into SNI unless it is an address.
static inline int swb_expect_name(SSL *ssl, const char *name, int is_address) {
    SSL_set_verify(ssl, SSL_VERIFY_PEER, NULL);
    if (is_address) return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), name);
    SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    return SSL_set1_host(ssl, name) == 1 && SSL_set_tlsext_host_name(ssl, name) == 1;
}

static inline int swb_offer_http11(SSL *ssl) {
    static const unsigned char http11[] = {8, 'h', 't', 't', 'p', '/', '1', '.', '1'};
    return SSL_set_alpn_protos(ssl, http11, sizeof http11);
}

// The reason text of the oldest queued error, or an empty string; clears the queue. A file that cannot be read is an
// error of the system, for which ERR_reason_error_string(3) has no text; glibc's are constants, so threads may share.
static inline const char *swb_take_tls_error(void) {
    unsigned long code = ERR_get_error();
    const char *text = NULL;
    if (code != 0) text = ERR_SYSTEM_ERROR(code) ? strerror(ERR_GET_REASON(code)) : ERR_reason_error_string(code);
    ERR_clear_error();
    return text == NULL ? "" : text;
}

// Whether the oldest queued error is an end of stream without close_notify.
static inline int swb_is_unexpected_eof(void) {
    return ERR_GET_REASON(ERR_peek_error()) == SSL_R_UNEXPECTED_EOF_WHILE_READING;
}

// EVP_EC_gen is a variadic macro.
static inline EVP_PKEY *swb_make_p256_key(void) { return EVP_EC_gen("P-256"); }

static inline int swb_add_extension(X509 *certificate, int nid, const char *value) {
    X509V3_CTX context;
    X509V3_set_ctx_nodb(&context);
    X509V3_set_ctx(&context, certificate, certificate, NULL, NULL, 0);
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, nid, value);
    if (extension == NULL) return 0;
    int added = X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
    return added;
}

// Fills and signs a development certificate: random serial, valid for so many seconds.
static inline int swb_fill_certificate(X509 *certificate, EVP_PKEY *key, long seconds) {
    BIGNUM *serial = BN_new();
    if (serial == NULL) return 0;
    int ok = BN_rand(serial, 127, BN_RAND_TOP_ANY, BN_RAND_BOTTOM_ANY) == 1 &&
             BN_to_ASN1_INTEGER(serial, X509_get_serialNumber(certificate)) != NULL;
    BN_free(serial);
    X509_NAME *name = X509_get_subject_name(certificate);
    return ok && X509_set_version(certificate, X509_VERSION_3) == 1 &&
           X509_gmtime_adj(X509_getm_notBefore(certificate), -60) != NULL &&
           X509_gmtime_adj(X509_getm_notAfter(certificate), seconds) != NULL &&
           X509_set_pubkey(certificate, key) == 1 &&
           X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const unsigned char *)"switchboard development", -1,
                                      -1, 0) == 1 &&
           X509_set_issuer_name(certificate, name) == 1 &&
           swb_add_extension(certificate, NID_basic_constraints, "critical,CA:TRUE") == 1 &&
           swb_add_extension(certificate, NID_ext_key_usage, "serverAuth") == 1 &&
           swb_add_extension(certificate, NID_subject_key_identifier, "hash") == 1 &&
           swb_add_extension(certificate, NID_subject_alt_name, "DNS:localhost,IP:127.0.0.1,IP:::1") == 1 &&
           X509_sign(certificate, key, EVP_sha256()) > 0;
}

#endif
