// TLS session tickets whose keys the nodes of a site derive alike, from one secret and the day.
#ifndef SWITCHBOARD_COPENSSL_TICKETS_H
#define SWITCHBOARD_COPENSSL_TICKETS_H

#include <stddef.h>
#include <stdint.h>
#include <openssl/ssl.h>

/// The day that makes the clock decide.
#define SWB_TICKET_DAY_OF_CLOCK INT64_MIN

/// Lets a server's context issue and take tickets; call it once, when the private key is set. 1, or 0 on failure.
///
/// The keys come from `secret`; with `length` 0 from the private key, which all nodes of a site have. Tickets made with
/// the secrets of `before`, which may be NULL, are taken for another day or two, and answered with fresh ones. `day`
/// counts from 1970 and is for tests. Nothing is changed afterwards, so threads may share the context.
int swb_set_tickets(SSL_CTX *context, const unsigned char *secret, size_t length, const SSL_CTX *before, int64_t day);

#endif
