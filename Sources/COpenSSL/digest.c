#include "COpenSSL.h"

// EVP_sha256(3) and its kin stand for a name, which each use looks up. The implementations are kept from the first use
// on, until the process ends.

static CRYPTO_ONCE once = CRYPTO_ONCE_STATIC_INIT;
static EVP_MD *sha1, *sha256;

static void fetch(void) {
    sha1 = EVP_MD_fetch(NULL, "SHA1", NULL);
    sha256 = EVP_MD_fetch(NULL, "SHA256", NULL);
}

static int digest(EVP_MD **algorithm, const unsigned char *bytes, size_t length, unsigned char *out) {
    return CRYPTO_THREAD_run_once(&once, fetch) == 1 && *algorithm != NULL &&
           EVP_Digest(bytes, length, out, NULL, *algorithm, NULL) == 1;
}

int swb_sha1(const unsigned char *bytes, size_t length, unsigned char out[20]) {
    return digest(&sha1, bytes, length, out);
}

int swb_sha256(const unsigned char *bytes, size_t length, unsigned char out[32]) {
    return digest(&sha256, bytes, length, out);
}
