// Counts the calls of malloc and its kin that a process makes, all threads together, and the blocks it holds.
//
// Preloaded (ld.so(8), LD_PRELOAD). The file named by ALLOCATIONS_FILE must be there with 24 bytes and is mapped, so
// that others read it while the process runs: the calls, the live blocks, and their bytes with malloc's own for each.
// C++'s new and Swift's allocator call these. Blocks from before the start are not counted, but their end is: only
// differences mean something.
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

// glibc's own names of them, which need no dlsym(3), which may allocate.
extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t count, size_t bytes);
extern void *__libc_realloc(void *block, size_t bytes);
extern void *__libc_memalign(size_t alignment, size_t bytes);
extern void __libc_free(void *block);

enum { calls, blocks, bytes_held, counters };

static _Atomic uint64_t before_start[counters];
static _Atomic uint64_t *counter = before_start;

static void add(int which, uint64_t number) {
    atomic_fetch_add_explicit(&counter[which], number, memory_order_relaxed);
}

static uint64_t size_of(void *block) { return malloc_usable_size(block) + sizeof(size_t); }

static void *made(void *block) {
    add(calls, 1);
    if (block == NULL) return NULL;
    add(blocks, 1);
    add(bytes_held, size_of(block));
    return block;
}

static void ends(void *block) {
    if (block == NULL) return;
    add(blocks, (uint64_t)-1);
    add(bytes_held, -size_of(block));
}

__attribute__((constructor)) static void map_counter(void) {
    const char *path = getenv("ALLOCATIONS_FILE");
    int fd = path == NULL ? -1 : open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0) return;
    void *page = mmap(NULL, sizeof before_start, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (page != MAP_FAILED) counter = page;
    close(fd);
}

void *malloc(size_t bytes) { return made(__libc_malloc(bytes)); }

void *calloc(size_t number, size_t bytes) { return made(__libc_calloc(number, bytes)); }

void *realloc(void *block, size_t bytes) {
    ends(block);
    return made(__libc_realloc(block, bytes));
}

void *memalign(size_t alignment, size_t bytes) { return made(__libc_memalign(alignment, bytes)); }

void *aligned_alloc(size_t alignment, size_t bytes) { return made(__libc_memalign(alignment, bytes)); }

int posix_memalign(void **result, size_t alignment, size_t bytes) {
    void *block = made(__libc_memalign(alignment, bytes));
    if (block == NULL) return ENOMEM;
    *result = block;
    return 0;
}

void free(void *block) {
    ends(block);
    __libc_free(block);
}
