#include "COpenSSL.h"

#include <openssl/core_names.h>
#include <openssl/kdf.h>
#include <string.h>
#include <time.h>

// Tickets as RFC 5077 section 4 recommends them: AES-256-CBC, then HMAC-SHA256, under keys of one day.
//
// A key's name is the id of its secret and the day, so that any node finds the keys of any other's ticket without
// having seen it made. Days are those of UTC.

enum {
    secrets_max = 4,
    id_bytes = 12,
    name_bytes = 16,
    iv_bytes = 16,
    prk_bytes = 32,
    mac_key_bytes = 32,
    cipher_key_bytes = 32,
    // The longest: the private exponent of an RSA key of 16384 bits.
    private_bytes_max = 2048,
    seconds_per_day = 86400,
};

typedef struct {
    unsigned char id[id_bytes];
    unsigned char prk[prk_bytes];
    // Tickets of later days are not taken: the secret was replaced before.
    int64_t last_day;
} Secret;

typedef struct {
    EVP_KDF *kdf;
    EVP_CIPHER *cipher;
    int64_t day;
    int count;
    // The first one issues.
    Secret secrets[secrets_max];
} Tickets;

// The keys of one day, and their name.
typedef struct {
    unsigned char name[name_bytes];
    unsigned char mac[mac_key_bytes];
    unsigned char cipher[cipher_key_bytes];
} Keys;

static CRYPTO_ONCE once = CRYPTO_ONCE_STATIC_INIT;
static int tickets_index = -1;

static void free_tickets(void *parent, void *pointer, CRYPTO_EX_DATA *data, int index, long number, void *argument) {
    (void)parent, (void)data, (void)index, (void)number, (void)argument;
    Tickets *tickets = pointer;
    if (tickets == NULL) return;
    EVP_KDF_free(tickets->kdf);
    EVP_CIPHER_free(tickets->cipher);
    OPENSSL_clear_free(tickets, sizeof *tickets);
}

static void make_index(void) { tickets_index = SSL_CTX_get_ex_new_index(0, NULL, NULL, NULL, free_tickets); }

static int64_t today(const Tickets *tickets) {
    return tickets->day == SWB_TICKET_DAY_OF_CLOCK ? (int64_t)time(NULL) / seconds_per_day : tickets->day;
}

// One step of HKDF-SHA256 (RFC 5869): extract with `extra` as the salt, or expand with it as the info.
static int hkdf(EVP_KDF *kdf, int mode, const unsigned char *key, size_t key_length, const void *extra,
                size_t extra_length, unsigned char *out, size_t out_length) {
    EVP_KDF_CTX *context = EVP_KDF_CTX_new(kdf);
    if (context == NULL) return 0;
    const char *name = mode == EVP_KDF_HKDF_MODE_EXTRACT_ONLY ? OSSL_KDF_PARAM_SALT : OSSL_KDF_PARAM_INFO;
    OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_int(OSSL_KDF_PARAM_MODE, &mode),
        OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, (char *)"SHA256", 0),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, (void *)key, key_length),
        OSSL_PARAM_construct_octet_string(name, (void *)extra, extra_length),
        OSSL_PARAM_construct_end(),
    };
    int done = EVP_KDF_derive(context, out, out_length, parameters);
    EVP_KDF_CTX_free(context);
    return done == 1;
}

static int adopt_secret(Tickets *tickets, const unsigned char *secret, size_t length) {
    static const char salt[] = "switchboard tls tickets", info[] = "id";
    Secret *first = &tickets->secrets[0];
    first->last_day = INT64_MAX;
    tickets->count = 1;
    return hkdf(tickets->kdf, EVP_KDF_HKDF_MODE_EXTRACT_ONLY, secret, length, salt, sizeof salt - 1, first->prk,
                prk_bytes) &&
           hkdf(tickets->kdf, EVP_KDF_HKDF_MODE_EXPAND_ONLY, first->prk, prk_bytes, info, sizeof info - 1, first->id,
                id_bytes);
}

// The secret part of a key, the same however its file is encoded; its length, or 0.
static size_t private_bytes(const EVP_PKEY *key, unsigned char *out, size_t room) {
    size_t length = room;
    if (EVP_PKEY_get_raw_private_key(key, out, &length) == 1) return length;
    BIGNUM *number = NULL;
    if (EVP_PKEY_get_bn_param(key, EVP_PKEY_is_a(key, "EC") ? OSSL_PKEY_PARAM_PRIV_KEY : OSSL_PKEY_PARAM_RSA_D,
                              &number) != 1) {
        return 0;
    }
    int written = (size_t)BN_num_bytes(number) <= room ? BN_bn2bin(number, out) : 0;
    BN_clear_free(number);
    return written > 0 ? (size_t)written : 0;
}

static int adopt_private_key(Tickets *tickets, const SSL_CTX *context) {
    unsigned char bytes[private_bytes_max];
    const EVP_PKEY *key = SSL_CTX_get0_privatekey(context);
    size_t length = key == NULL ? 0 : private_bytes(key, bytes, sizeof bytes);
    int done = length > 0 && adopt_secret(tickets, bytes, length);
    OPENSSL_cleanse(bytes, sizeof bytes);
    return done;
}

static void keep_earlier(Tickets *tickets, const Tickets *before) {
    // Other nodes may replace theirs somewhat later and go on issuing until then.
    int64_t last_day = today(tickets) + 1;
    for (int i = 0; i < before->count && tickets->count < secrets_max; i++) {
        const Secret *secret = &before->secrets[i];
        if (memcmp(secret->id, tickets->secrets[0].id, id_bytes) == 0) continue;
        Secret *kept = &tickets->secrets[tickets->count++];
        *kept = *secret;
        if (kept->last_day > last_day) kept->last_day = last_day;
    }
}

static const Secret *find_secret(const Tickets *tickets, const unsigned char *id) {
    for (int i = 0; i < tickets->count; i++) {
        if (CRYPTO_memcmp(tickets->secrets[i].id, id, id_bytes) == 0) return &tickets->secrets[i];
    }
    return NULL;
}

// The keys of a name; NULL when they cannot be derived. They are the thread's own, as long as it derives no others.
static const Keys *derive_keys(const Tickets *tickets, const Secret *secret, const unsigned char *name) {
    // Nearly every ticket is of one day; a name stands for one secret and one day, whichever context has them.
    static _Thread_local Keys latest;
    static _Thread_local int is_derived;
    if (is_derived && memcmp(latest.name, name, name_bytes) == 0) return &latest;
    unsigned char info[4 + name_bytes - id_bytes] = {'k', 'e', 'y', 's'};
    unsigned char bytes[mac_key_bytes + cipher_key_bytes];
    memcpy(info + 4, name + id_bytes, name_bytes - id_bytes);
    is_derived = hkdf(tickets->kdf, EVP_KDF_HKDF_MODE_EXPAND_ONLY, secret->prk, prk_bytes, info, sizeof info, bytes,
                      sizeof bytes);
    memcpy(latest.name, name, name_bytes);
    memcpy(latest.mac, bytes, mac_key_bytes);
    memcpy(latest.cipher, bytes + mac_key_bytes, cipher_key_bytes);
    OPENSSL_cleanse(bytes, sizeof bytes);
    return is_derived ? &latest : NULL;
}

static int use_keys(const Tickets *tickets, const Secret *secret, const unsigned char *name, const unsigned char *iv,
                    EVP_CIPHER_CTX *cipher, EVP_MAC_CTX *mac, int encrypts) {
    const Keys *keys = derive_keys(tickets, secret, name);
    if (keys == NULL) return 0;
    OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_octet_string(OSSL_MAC_PARAM_KEY, (void *)keys->mac, mac_key_bytes),
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, (char *)"SHA256", 0),
        OSSL_PARAM_construct_end(),
    };
    return EVP_CipherInit_ex(cipher, tickets->cipher, NULL, keys->cipher, iv, encrypts) == 1 &&
           EVP_MAC_CTX_set_params(mac, parameters) == 1;
}

// SSL_CTX_set_tlsext_ticket_key_evp_cb(3): 1 goes on, 2 also renews the ticket, 0 asks for a full handshake.
static int ticket_keys(SSL *ssl, unsigned char *name, unsigned char *iv, EVP_CIPHER_CTX *cipher, EVP_MAC_CTX *mac,
                       int encrypts) {
    const Tickets *tickets = SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), tickets_index);
    if (tickets == NULL) return encrypts ? -1 : 0;
    int64_t now = today(tickets);
    if (encrypts) {
        const Secret *secret = &tickets->secrets[0];
        memcpy(name, secret->id, id_bytes);
        for (int i = 0; i < 4; i++) name[id_bytes + i] = (unsigned char)((uint32_t)now >> (24 - 8 * i));
        return RAND_bytes(iv, iv_bytes) == 1 && use_keys(tickets, secret, name, iv, cipher, mac, 1) ? 1 : -1;
    }
    const Secret *secret = find_secret(tickets, name);
    uint32_t day = 0;
    for (int i = id_bytes; i < name_bytes; i++) day = day << 8 | name[i];
    // Yesterday's are good; so are tomorrow's, of a node whose clock is a little ahead, or from before ours went back.
    if (secret == NULL || (int64_t)day < now - 1 || (int64_t)day > now + 1 || (int64_t)day > secret->last_day) return 0;
    if (!use_keys(tickets, secret, name, iv, cipher, mac, 0)) return 0;
    // A client should use a TLS 1.3 ticket once, so it needs another one each time (RFC 8446 appendix C.4).
    int is_fresh = secret == &tickets->secrets[0] && (int64_t)day >= now;
    return is_fresh && SSL_version(ssl) < TLS1_3_VERSION ? 1 : 2;
}

int swb_set_tickets(SSL_CTX *context, const unsigned char *secret, size_t length, const SSL_CTX *before, int64_t day) {
    if (CRYPTO_THREAD_run_once(&once, make_index) != 1 || tickets_index < 0) return 0;
    Tickets *tickets = OPENSSL_zalloc(sizeof *tickets);
    if (tickets == NULL) return 0;
    tickets->day = day;
    tickets->kdf = EVP_KDF_fetch(NULL, "HKDF", NULL);
    tickets->cipher = EVP_CIPHER_fetch(NULL, "AES-256-CBC", NULL);
    int done = tickets->kdf != NULL && tickets->cipher != NULL &&
               (length > 0 ? adopt_secret(tickets, secret, length) : adopt_private_key(tickets, context));
    const Tickets *earlier = before == NULL ? NULL : SSL_CTX_get_ex_data(before, tickets_index);
    if (done && earlier != NULL) keep_earlier(tickets, earlier);
    if (!done || SSL_CTX_set_ex_data(context, tickets_index, tickets) != 1) {
        free_tickets(NULL, tickets, NULL, 0, 0, NULL);
        return 0;
    }
    // As long as the keys of one day and the next are good for.
    SSL_CTX_set_timeout(context, seconds_per_day);
    return (int)SSL_CTX_set_tlsext_ticket_key_evp_cb(context, ticket_keys);
}
