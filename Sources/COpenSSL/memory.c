#include <malloc.h>
#include <openssl/crypto.h>
#include <stdlib.h>

// OpenSSL's memory, so that a record costs no call of malloc(3).
//
// With released buffers (SSL_MODE_RELEASE_BUFFERS), which idle connections need to be small, OpenSSL takes a record
// buffer and three small blocks for every record it writes, and gives them back. They come from a small stock of the
// thread. A block is known by its usable size, so none needs a header; whatever is beyond the stock goes to malloc.

enum {
    // WPACKET_SUB, the small block.
    small_bytes = 40,
    small_bytes_min = 33,
    // A record of 16 KiB with its header, alignment and the most that encryption adds, in either direction.
    record_bytes = 17408,
    record_bytes_min = 16384,
    stock_max = 8,
};

typedef struct {
    int count;
    void *blocks[stock_max];
} Stock;

// What a thread keeps stays until the process ends: at most 140 kB.
static _Thread_local Stock small_stock, record_stock;

static void *take(Stock *stock, size_t bytes) {
    return stock->count > 0 ? stock->blocks[--stock->count] : malloc(bytes);
}

static void give(Stock *stock, void *block) {
    if (stock->count < stock_max) {
        stock->blocks[stock->count++] = block;
    } else {
        free(block);
    }
}

static void *stock_malloc(size_t bytes, const char *file, int line) {
    (void)file;
    (void)line;
    if (bytes >= small_bytes_min && bytes <= small_bytes) return take(&small_stock, small_bytes);
    if (bytes >= record_bytes_min && bytes <= record_bytes) return take(&record_stock, record_bytes);
    // CRYPTO_malloc(3) promises NULL.
    return bytes == 0 ? NULL : malloc(bytes);
}

static void stock_free(void *block, const char *file, int line) {
    (void)file;
    (void)line;
    if (block == NULL) return;
    size_t bytes = malloc_usable_size(block);
    if (bytes == small_bytes) return give(&small_stock, block);
    if (bytes >= record_bytes && bytes < record_bytes + 64) return give(&record_stock, block);
    free(block);
}

static void *stock_realloc(void *block, size_t bytes, const char *file, int line) {
    if (block == NULL) return stock_malloc(bytes, file, line);
    if (bytes == 0) {
        stock_free(block, file, line);
        return NULL;
    }
    return realloc(block, bytes);
}

// Before main, since OpenSSL takes other functions only before its first allocation. Where that fails, it goes on with
// malloc, which costs time only.
__attribute__((constructor)) static void use_stock(void) {
    CRYPTO_set_mem_functions(stock_malloc, stock_realloc, stock_free);
}
