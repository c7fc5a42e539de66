// The variant with Redis in the path: messages leave by PUBLISH on one link and come back on another, which subscribes
// (RESP2 over TCP). A turn's calls are written together. A reply is checked like any input; one that is malformed, and
// the end of a link, end the process, since nothing that is measured afterwards would mean anything.
#include "floor.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

// The longest push is a topic's name, a message, and less than 100 bytes around them.
enum { replies_max = 1 << 20, kind_max = 16, error_max = 4096, digits_max = 9 };

typedef struct Link {
    int fd;
    bool waits_for_room; // EPOLLOUT is asked for
    // What has come and is not a whole reply yet.
    unsigned char *replies;
    size_t replies_length;
    // Calls: the bytes from `calls_sent` to `calls_length` are to be sent.
    unsigned char *calls;
    size_t calls_sent, calls_length, calls_capacity;
} Link;

// Both are idle when the floor has no Redis.
static Link publishing, subscribing;

// The publishers to be answered, in the order of their calls; NULL is one whose connection has ended.
static Connection **publishers;
static size_t publishers_first, publishers_end, publishers_capacity;

bool has_redis(void) { return publishing.replies != NULL; }

// MARK: Calls

static void watch(Link *link, bool room) {
    if (link->waits_for_room == room) return;
    link->waits_for_room = room;
    watch_descriptor(link->fd, link, room);
}

static void flush(Link *link) {
    if (link->calls_sent == link->calls_length) return;
    ssize_t taken = send(link->fd, link->calls + link->calls_sent, link->calls_length - link->calls_sent,
                         MSG_NOSIGNAL | MSG_DONTWAIT);
    if (taken < 0 && errno != EAGAIN && errno != EINTR) fail("a link to Redis ended");
    if (taken > 0) link->calls_sent += (size_t)taken;
    if (link->calls_sent == link->calls_length) link->calls_sent = link->calls_length = 0;
    watch(link, link->calls_length > 0);
}

static void append(Link *link, const void *bytes, size_t length) {
    if (link->calls_sent > link->calls_length / 2) {
        link->calls_length -= link->calls_sent;
        memmove(link->calls, link->calls + link->calls_sent, link->calls_length);
        link->calls_sent = 0;
    }
    reserve(&link->calls, &link->calls_capacity, link->calls_length + length);
    memcpy(link->calls + link->calls_length, bytes, length);
    link->calls_length += length;
}

// One word of a call: its length, and its bytes.
static void append_word(Link *link, const void *bytes, size_t length) {
    unsigned char head[24], *first = head + sizeof head - 2;
    memcpy(first, "\r\n", 2);
    size_t rest = length;
    do {
        *--first = (unsigned char)('0' + rest % 10);
        rest /= 10;
    } while (rest > 0);
    *--first = '$';
    append(link, first, (size_t)(head + sizeof head - first));
    append(link, bytes, length);
    append(link, "\r\n", 2);
}

static void append_call(Link *link, const char *head, const Topic *topic) {
    append(link, head, strlen(head));
    append_word(link, topic->name, topic->name_length);
}

void redis_subscribe(Topic *topic) {
    topic->unconfirmed++;
    append_call(&subscribing, "*2\r\n$9\r\nSUBSCRIBE\r\n", topic);
}

void redis_unsubscribe(const Topic *topic) { append_call(&subscribing, "*2\r\n$11\r\nUNSUBSCRIBE\r\n", topic); }

void redis_publish(Connection *connection, const Topic *topic, const unsigned char *data, size_t length) {
    append_call(&publishing, "*3\r\n$7\r\nPUBLISH\r\n", topic);
    append_word(&publishing, data, length);
    if (publishers_end == publishers_capacity) {
        // Moved when half of it is free, so that each entry is moved seldom.
        if (publishers_first > publishers_capacity / 2) {
            publishers_end -= publishers_first;
            memmove(publishers, publishers + publishers_first, publishers_end * sizeof *publishers);
            publishers_first = 0;
        } else {
            publishers_capacity = publishers_capacity == 0 ? 64 : publishers_capacity * 2;
            publishers = realloc(publishers, publishers_capacity * sizeof *publishers);
            if (publishers == NULL) fail("realloc");
        }
    }
    publishers[publishers_end++] = connection;
    connection->answers_due++;
}

void redis_forget(Connection *connection) {
    for (size_t index = publishers_first; connection->answers_due > 0 && index < publishers_end; index++) {
        if (publishers[index] != connection) continue;
        publishers[index] = NULL;
        connection->answers_due--;
    }
}

void redis_flush(void) {
    if (!publishing.waits_for_room) flush(&publishing);
    if (!subscribing.waits_for_room) flush(&subscribing);
}

// MARK: Replies

// The readers return how many bytes they took: 0 when not all has come, -1 when it is something else.

// `type`, a number and the end of the line.
static ptrdiff_t read_number(const unsigned char *bytes, size_t length, char type, size_t *number) {
    if (length == 0) return 0;
    if (bytes[0] != (unsigned char)type) return -1;
    size_t index = 1;
    *number = 0;
    while (index < length && index <= digits_max && bytes[index] >= '0' && bytes[index] <= '9') {
        *number = *number * 10 + (size_t)(bytes[index++] - '0');
    }
    if (index == length) return 0;
    if (index == 1 || bytes[index] != '\r') return -1;
    if (index + 1 == length) return 0;
    return bytes[index + 1] == '\n' ? (ptrdiff_t)index + 2 : -1;
}

// A word of at most `most` bytes.
static ptrdiff_t read_word(const unsigned char *bytes, size_t length, size_t most, const unsigned char **word,
                           size_t *word_length) {
    ptrdiff_t head = read_number(bytes, length, '$', word_length);
    if (head <= 0) return head;
    if (*word_length > most) return -1;
    size_t whole = (size_t)head + *word_length + 2;
    if (length < whole) return 0;
    *word = bytes + head;
    return memcmp(bytes + whole - 2, "\r\n", 2) == 0 ? (ptrdiff_t)whole : -1;
}

static bool is(const unsigned char *word, size_t length, const char *text) {
    return length == strlen(text) && memcmp(word, text, length) == 0;
}

// The reply to one PUBLISH.
static ptrdiff_t read_reply(const unsigned char *bytes, size_t length) {
    if (length == 0) return 0;
    ptrdiff_t used;
    size_t receivers;
    bool refused = bytes[0] == '-';
    if (refused) {
        const unsigned char *end = memchr(bytes, '\n', length);
        if (end == NULL) return length > error_max ? -1 : 0;
        used = end + 1 - bytes;
    } else {
        used = read_number(bytes, length, ':', &receivers);
        if (used <= 0) return used;
    }
    if (publishers_first == publishers_end) return -1; // nobody asked
    Connection *publisher = publishers[publishers_first++];
    if (publishers_first == publishers_end) publishers_first = publishers_end = 0;
    if (publisher != NULL) {
        publisher->answers_due--;
        answer_publish(publisher, !refused);
    }
    return used;
}

// A message, or the confirmation of a subscription or of its end.
static ptrdiff_t read_push(const unsigned char *bytes, size_t length) {
    size_t words, kind_length, name_length, data_length, subscriptions;
    const unsigned char *kind, *name, *data;
    ptrdiff_t step = read_number(bytes, length, '*', &words);
    if (step <= 0) return step;
    if (words != 3) return -1;
    size_t used = (size_t)step;
    step = read_word(bytes + used, length - used, kind_max, &kind, &kind_length);
    if (step <= 0) return step;
    used += (size_t)step;
    step = read_word(bytes + used, length - used, topic_name_max, &name, &name_length);
    if (step <= 0) return step;
    used += (size_t)step;
    bool is_message = is(kind, kind_length, "message"), is_subscribed = is(kind, kind_length, "subscribe");
    if (!is_message && !is_subscribed && !is(kind, kind_length, "unsubscribe")) return -1;
    step = is_message ? read_word(bytes + used, length - used, message_max, &data, &data_length)
                      : read_number(bytes + used, length - used, ':', &subscriptions);
    if (step <= 0) return step;
    Topic *topic = topic_found((const char *)name, name_length);
    if (topic == NULL) return -1; // nobody subscribed
    if (is_message) topic_publish(topic, data, data_length);
    if (is_subscribed) {
        if (topic->unconfirmed == 0) return -1;
        topic_confirmed(topic);
    }
    return (ptrdiff_t)used + step;
}

bool redis_event(void *data, unsigned events) {
    Link *link = data;
    if (link != &publishing && link != &subscribing) return false;
    if (events & EPOLLOUT) flush(link);
    if (!(events & ~(unsigned)EPOLLOUT)) return true;
    ssize_t came = recv(link->fd, link->replies + link->replies_length, replies_max - link->replies_length,
                        MSG_DONTWAIT);
    if (came < 0 && (errno == EAGAIN || errno == EINTR)) return true;
    if (came <= 0) fail("a link to Redis ended");
    link->replies_length += (size_t)came;
    size_t used = 0;
    ptrdiff_t step = 0;
    do {
        used += (size_t)step;
        const unsigned char *bytes = link->replies + used;
        size_t length = link->replies_length - used;
        step = link == &publishing ? read_reply(bytes, length) : read_push(bytes, length);
    } while (step > 0);
    errno = EPROTO;
    if (step < 0 || link->replies_length - used == replies_max) fail("Redis sent something else than a reply");
    link->replies_length -= used;
    memmove(link->replies, link->replies + used, link->replies_length);
    return true;
}

// MARK: Links

static void open_link(Link *link, int port) {
    int yes = 1;
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    link->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    link->replies = malloc(replies_max);
    if (link->fd < 0 || link->replies == NULL || connect(link->fd, (struct sockaddr *)&address, sizeof address) != 0 ||
        setsockopt(link->fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes) != 0) {
        fail("Redis cannot be reached");
    }
    add_descriptor(link->fd, link);
}

void redis_open(int port) {
    open_link(&publishing, port);
    open_link(&subscribing, port);
}
