// Signatures, digests and random bytes: what Switchboard's Rights needs of <openssl/evp.h>.
#ifndef SWITCHBOARD_COPENSSL_CRYPTO_H
#define SWITCHBOARD_COPENSSL_CRYPTO_H

#include <openssl/bn.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>

/// SHA-1, found once; NULL when OpenSSL has none.
const EVP_MD *swb_sha1(void);

/// SHA-256, found once; NULL when OpenSSL has none.
const EVP_MD *swb_sha256(void);

// EVP_PKEY_Q_keygen is variadic, which Swift cannot import; one name per kind of key that tokens are signed with.

/// A fresh RSA key; the caller owns it (EVP_PKEY_free). NULL when OpenSSL cannot make one.
static inline EVP_PKEY *swb_generate_rsa(unsigned int bits) {
    return EVP_PKEY_Q_keygen(NULL, NULL, "RSA", (size_t)bits);
}

/// A fresh EC key on the named curve, e.g. "P-256"; the caller owns it.
static inline EVP_PKEY *swb_generate_ec(const char *curve) {
    return EVP_PKEY_Q_keygen(NULL, NULL, "EC", curve);
}

/// A fresh Ed25519 key; the caller owns it.
static inline EVP_PKEY *swb_generate_ed25519(void) {
    return EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
}

#endif
