// hiredis as a codec only (docs/decisions.md, D4): the reply reader and the argv formatter, never its sockets.
#ifndef SWITCHBOARD_CHIREDIS_H
#define SWITCHBOARD_CHIREDIS_H

#include <stdlib.h>
#include <hiredis/hiredis.h>
#include <hiredis/read.h>

#endif
