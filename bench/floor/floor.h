// What the files of the floor share; floor.c tells what the floor is.
#pragma once

#include <openssl/ssl.h>
#include <stdbool.h>
#include <stddef.h>

// A request or frame that does not fit is refused by closing.
// A message is shorter than a request, and its length fits the 16 bits of a frame's.
enum { input_max = 65536, topic_name_max = 250, message_max = 65535 };

typedef struct Topic Topic;

// A subscriber once `topic` is set, else an HTTP client that may publish.
typedef struct Connection {
    SSL *ssl;
    int fd;
    bool waits_for_room; // EPOLLOUT is asked for
    bool closing;        // closed as soon as everything pending is out
    bool is_joining;     // Redis has not confirmed; the answer to the upgrade is pending until then
    Topic *topic;
    size_t member; // its place among the topic's members
    size_t answers_due; // publishes that Redis has not answered
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
    size_t unconfirmed; // subscriptions that Redis has not confirmed
    // The frames of this turn, encoded once for all members.
    unsigned char *frames;
    size_t frames_length, frames_capacity;
    size_t name_length;
    char name[];
};

// floor.c

// Ends the process, with what failed and what the system says.
_Noreturn void fail(const char *what);
// Sends now what the socket takes and keeps the rest; false when the connection is broken.
bool send_bytes(Connection *connection, const void *bytes, size_t length);
// Keeps bytes for `send_pending`, which sends them; false when the connection is broken.
void hold_bytes(Connection *connection, const void *bytes, size_t length);
bool send_pending(Connection *connection);
void close_connection(Connection *connection);
// The same at the connection's next event, for when events of this turn may still name it.
void close_later(Connection *connection);
// Adds a descriptor that is no client's to the loop; asks for EPOLLOUT, or no longer.
void add_descriptor(int fd, void *data);
void watch_descriptor(int fd, void *data, bool room);
// Grows a buffer to hold `needed` bytes; ends the process when there is no memory.
void reserve(unsigned char **buffer, size_t *capacity, size_t needed);

// topics.c

// The topic of that name, which is made when there is none; or NULL then.
Topic *topic_named(const char *name, size_t length);
Topic *topic_found(const char *name, size_t length);
void topic_join(Topic *topic, Connection *connection);
void topic_leave(Connection *connection);
// Redis has confirmed a subscription: the last one under way answers those who wait for it.
void topic_confirmed(Topic *topic);
// Appends one text frame to what the topic's members get at the end of this turn.
void topic_publish(Topic *topic, const unsigned char *data, size_t length);
// One SSL_write per member of each topic with frames.
void topics_deliver(void);

// protocol.c

// Handles the whole requests or frames in `bytes`, which has room for one byte more; returns how many bytes those
// were, or -1 when the connection has to be closed.
ptrdiff_t handle_input(Connection *connection, unsigned char *bytes, size_t length);
// Answers a publish that Redis has taken, or refused.
void answer_publish(Connection *connection, bool is_taken);

// redis.c

// Connects to the Redis at a port of this machine; from then on messages go by way of it.
void redis_open(int port);
bool has_redis(void);
void redis_subscribe(Topic *topic);
void redis_unsubscribe(const Topic *topic);
// `answer_publish` follows, unless the connection is forgotten first.
void redis_publish(Connection *connection, const Topic *topic, const unsigned char *data, size_t length);
void redis_forget(Connection *connection);
// Handles an event of a link; false when it is no link's.
bool redis_event(void *data, unsigned events);
// Sends the calls of this turn.
void redis_flush(void);
