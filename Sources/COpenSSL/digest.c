#include "COpenSSL.h"

// EVP_sha256(3) and its kin stand for a name, which each use looks up. The implementations are kept from the first use
// on, until the process ends.

static CRYPTO_ONCE once = CRYPTO_ONCE_STATIC_INIT;
static EVP_MD *sha1, *sha256;

static void fetch(void) {
    sha1 = EVP_MD_fetch(NULL, "SHA1", NULL);
    sha256 = EVP_MD_fetch(NULL, "SHA256", NULL);
}

const EVP_MD *swb_sha1(void) { return CRYPTO_THREAD_run_once(&once, fetch) == 1 ? sha1 : NULL; }

const EVP_MD *swb_sha256(void) { return CRYPTO_THREAD_run_once(&once, fetch) == 1 ? sha256 : NULL; }
