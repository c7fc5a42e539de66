// TLS: the macros of <openssl/ssl.h> that Switchboard's Transport needs.
#ifndef SWITCHBOARD_COPENSSL_TLS_H
#define SWITCHBOARD_COPENSSL_TLS_H

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#endif
