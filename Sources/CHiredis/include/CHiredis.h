// hiredis as a codec only (docs/decisions.md, D4): the reply reader and the argv formatter, never its sockets.
#ifndef SWITCHBOARD_CHIREDIS_H
#define SWITCHBOARD_CHIREDIS_H

#include <stdlib.h>
#include <hiredis/hiredis.h>
#include <hiredis/read.h>

/// The kind (REDIS_REPLY_*) of the value the reader is in the middle of; -1 when its type byte has not come, 0 when
/// it is between two replies. Swift sees the reader's task stack as a tuple and cannot index it.
static inline int switchboard_reader_kind(const redisReader *reader) {
    return reader->ridx < 0 ? 0 : reader->rstack[reader->ridx].type;
}

#endif
