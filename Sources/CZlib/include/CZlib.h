// zlib's raw deflate, and functions in place of the macros that Swift cannot import.
#ifndef SWITCHBOARD_CZLIB_H
#define SWITCHBOARD_CZLIB_H

#include <zlib.h>

/// Prepares a stream of raw deflate without header and checksum; `window_bits` 9...15. A result of zlib.
static inline int switchboard_deflate_start(z_stream *stream, int level, int window_bits, int memory_level) {
    return deflateInit2(stream, level, Z_DEFLATED, -window_bits, memory_level, Z_DEFAULT_STRATEGY);
}

/// Prepares a stream that inflates raw deflate of any window. A result of zlib.
static inline int switchboard_inflate_start(z_stream *stream) {
    return inflateInit2(stream, -15);
}

/// Whether the inflater has just ended a block, with no bit of a byte left over (inflate() in zlib.h, `data_type`).
static inline int switchboard_is_between_blocks(const z_stream *stream) {
    return (stream->data_type & 128) != 0 && (stream->data_type & 31) == 0;
}

#endif
