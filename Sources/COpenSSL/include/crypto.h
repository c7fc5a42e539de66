// Signatures, digests and random bytes: what Switchboard's Rights needs of <openssl/evp.h>.
#ifndef SWITCHBOARD_COPENSSL_CRYPTO_H
#define SWITCHBOARD_COPENSSL_CRYPTO_H

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/sha.h>

#endif
