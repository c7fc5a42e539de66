// What the files of the floor share; floor.c tells what the floor is.
#pragma once

#include <openssl/ssl.h>
#include <stdbool.h>
#include <stddef.h>

// A request or frame that does not fit is refused by closing.
enum { input_max = 65536, topic_name_max = 250 };

typedef struct Topic Topic;

// A subscriber once `topic` is set, else an HTTP client that may publish.
typedef struct Connection {
    SSL *ssl;
    int fd;
    bool waits_for_room; // EPOLLOUT is asked for
    bool closing;        // closed as soon as everything pending is out
    Topic *topic;
    size_t member; // its place among the topic's members
    // Of a request or frame that has not wholly come.
    unsigned char *kept;
    size_t kept_length;
    // What the socket had no room for: the bytes from `pending_sent` to `pending_length`.
    unsigned char *pending;
    size_t pending_sent, pending_length, pending_capacity;
} Connection;

struct Topic {
    Topic *next_in_bucket;
    Topic *next_changed;
    Connection **members;
    size_t member_count, member_capacity;
    // The frames of this turn, encoded once for all members.
    unsigned char *frames;
    size_t frames_length, frames_capacity;
    size_t name_length;
    char name[];
};

// floor.c

// Sends now what the socket takes and keeps the rest; false when the connection is broken.
bool send_bytes(Connection *connection, const void *bytes, size_t length);
void close_connection(Connection *connection);
// Grows a buffer to hold `needed` bytes; ends the process when there is no memory.
void reserve(unsigned char **buffer, size_t *capacity, size_t needed);

// topics.c

Topic *topic_named(const char *name, size_t length);
void topic_join(Topic *topic, Connection *connection);
void topic_leave(Connection *connection);
// Appends one text frame to what the topic's members get at the end of this turn.
void topic_publish(Topic *topic, const unsigned char *data, size_t length);
// One SSL_write per member of each topic with frames.
void topics_deliver(void);

// protocol.c

// Handles the whole requests or frames in `bytes`, which has room for one byte more; returns how many bytes those
// were, or -1 when the connection has to be closed.
ptrdiff_t handle_input(Connection *connection, unsigned char *bytes, size_t length);
