// OpenSSL 3 headers, and inline forms of the function-like macros Swift cannot import.
#ifndef SWITCHBOARD_COPENSSL_H
#define SWITCHBOARD_COPENSSL_H

#include "tls.h"
#include "tickets.h"
#include "crypto.h"

#endif
