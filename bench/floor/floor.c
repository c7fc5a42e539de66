// The floor: the least a pub/sub gateway can do, which tells what this machine allows.
//
// One thread, one epoll, one SSL_write per subscriber. WebSockets over TLS subscribe by GET /sub/TOPIC; POST /pub/TOPIC
// sends its body as one text frame to all of them and is answered 200. All publishes read in one turn of the loop are
// encoded once, and each member gets them by one SSL_write. Nothing is lost: what a socket has no room for waits.
//
// With REDIS-PORT, a publish goes to Redis and is answered after Redis has answered; members get what Redis sends. A
// topic is subscribed to while it has members, and an upgrade is answered once Redis has confirmed that (redis.c).
//
// What it leaves out, and a gateway must have: authentication, rights, limits of any kind (a reader that never reads
// makes it grow without end), history and positions, timeouts and dead-peer detection, a second connection to Redis
// after the first, checks of what clients send, metrics, a shutdown that drains, certificates that can be renewed; and
// without REDIS-PORT any second node. Topics are never freed. A subscriber may also get what was published earlier in
// the turn it came in.
//
// usage: floor PORT CERTIFICATE KEY [REDIS-PORT] (port 0: any; the one taken is printed)
#include "floor.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum { events_max = 1024, backlog = 4096 };

static int epoll;
static SSL_CTX *context;
static unsigned char input[input_max + 1];

void fail(const char *what) {
    fprintf(stderr, "floor: %s: %s\n", what, strerror(errno));
    ERR_print_errors_fp(stderr);
    exit(1);
}

void reserve(unsigned char **buffer, size_t *capacity, size_t needed) {
    if (needed <= *capacity) return;
    size_t grown = *capacity * 2 > needed ? *capacity * 2 : needed;
    *buffer = realloc(*buffer, grown);
    if (*buffer == NULL) fail("realloc");
    *capacity = grown;
}

// MARK: TLS

static void make_context(const char *certificate, const char *key) {
    context = SSL_CTX_new(TLS_server_method());
    if (context == NULL) fail("SSL_CTX_new");
    // Idle connections hold no record buffers, and a partly taken write is kept in a buffer of its own.
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                                  SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_options(context,
                        SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION | SSL_OP_CIPHER_SERVER_PREFERENCE);
    // A record's header and body by one read(2).
    SSL_CTX_set_read_ahead(context, 1);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    if (SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) != 1 || SSL_CTX_set_num_tickets(context, 1) != 1 ||
        // The cheapest suite, and the gateway's.
        SSL_CTX_set_ciphersuites(context, "TLS_AES_128_GCM_SHA256") != 1 ||
        SSL_CTX_use_certificate_chain_file(context, certificate) != 1 ||
        SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) != 1) {
        fail("TLS could not be set up");
    }
}

// MARK: Connections

void close_connection(Connection *connection) {
    if (connection->topic != NULL) topic_leave(connection);
    if (connection->answers_due > 0) redis_forget(connection);
    SSL_free(connection->ssl);
    close(connection->fd);
    free(connection->kept);
    free(connection->pending);
    free(connection);
}

void close_later(Connection *connection) { shutdown(connection->fd, SHUT_RDWR); }

void add_descriptor(int fd, void *data) {
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = data};
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) != 0) fail("epoll_ctl");
}

void watch_descriptor(int fd, void *data, bool room) {
    struct epoll_event event = {.events = EPOLLIN | (room ? EPOLLOUT : 0), .data.ptr = data};
    if (epoll_ctl(epoll, EPOLL_CTL_MOD, fd, &event) != 0) fail("epoll_ctl");
}

static void watch(Connection *connection, bool room) {
    if (connection->waits_for_room == room) return;
    connection->waits_for_room = room;
    watch_descriptor(connection->fd, connection, room);
}

// How many bytes the socket took; -1 when the connection is broken.
static ptrdiff_t write_some(Connection *connection, const unsigned char *bytes, size_t length) {
    size_t sent = 0;
    while (sent < length) {
        ERR_clear_error();
        int taken = SSL_write(connection->ssl, bytes + sent, (int)(length - sent));
        if (taken > 0) {
            sent += (size_t)taken;
            continue;
        }
        int reason = SSL_get_error(connection->ssl, taken);
        if (reason != SSL_ERROR_WANT_WRITE && reason != SSL_ERROR_WANT_READ) return -1;
        break;
    }
    return (ptrdiff_t)sent;
}

bool send_bytes(Connection *connection, const void *bytes, size_t length) {
    size_t sent = 0;
    if (connection->pending_length == 0) {
        ptrdiff_t taken = write_some(connection, bytes, length);
        if (taken < 0) return false;
        sent = (size_t)taken;
        if (sent == length) return true;
    }
    hold_bytes(connection, (const unsigned char *)bytes + sent, length - sent);
    watch(connection, true);
    return true;
}

void hold_bytes(Connection *connection, const void *bytes, size_t length) {
    // Moved seldom, so that each byte is moved once or twice in all.
    if (connection->pending_sent > connection->pending_length / 2) {
        connection->pending_length -= connection->pending_sent;
        memmove(connection->pending, connection->pending + connection->pending_sent, connection->pending_length);
        connection->pending_sent = 0;
    }
    reserve(&connection->pending, &connection->pending_capacity, connection->pending_length + length);
    memcpy(connection->pending + connection->pending_length, bytes, length);
    connection->pending_length += length;
}

bool send_pending(Connection *connection) {
    size_t rest = connection->pending_length - connection->pending_sent;
    ptrdiff_t sent = write_some(connection, connection->pending + connection->pending_sent, rest);
    if (sent < 0) return false;
    connection->pending_sent += (size_t)sent;
    if (connection->pending_sent < connection->pending_length) {
        watch(connection, true);
        return true;
    }
    free(connection->pending);
    connection->pending = NULL;
    connection->pending_sent = connection->pending_length = connection->pending_capacity = 0;
    watch(connection, false);
    return true;
}

// Reads and handles all that has come; false when the connection is over.
static bool receive(Connection *connection) {
    do {
        size_t length = connection->kept_length;
        if (length == input_max) return false;
        ERR_clear_error();
        // The handshake is made by SSL_read, too.
        int came = SSL_read(connection->ssl, input + length, (int)(input_max - length));
        if (came <= 0) {
            int reason = SSL_get_error(connection->ssl, came);
            if (reason == SSL_ERROR_WANT_WRITE) watch(connection, true);
            return reason == SSL_ERROR_WANT_READ || reason == SSL_ERROR_WANT_WRITE;
        }
        if (length > 0) memcpy(input, connection->kept, length);
        free(connection->kept);
        connection->kept = NULL;
        connection->kept_length = 0;

        length += (size_t)came;
        ptrdiff_t used = handle_input(connection, input, length);
        if (used < 0) return false;
        size_t rest = length - (size_t)used;
        if (rest > 0) {
            connection->kept = malloc(rest);
            if (connection->kept == NULL) fail("malloc");
            memcpy(connection->kept, input + used, rest);
            connection->kept_length = rest;
        }
    } while (!connection->closing && SSL_has_pending(connection->ssl));
    return true;
}

static void handle_event(Connection *connection, unsigned events) {
    bool lives = true;
    if (events & EPOLLOUT) {
        if (connection->pending_length > 0) {
            lives = send_pending(connection);
        } else {
            watch(connection, false);
            lives = receive(connection); // the handshake had no room
        }
    }
    if (lives && (events & (EPOLLIN | EPOLLHUP | EPOLLERR))) lives = receive(connection);
    if (lives && connection->closing && connection->pending_length == 0) {
        SSL_shutdown(connection->ssl);
        lives = false;
    }
    if (!lives) close_connection(connection);
}

// MARK: The loop

static int listen_at(int port) {
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int yes = 1;
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    // Linux gives TCP_NODELAY on to the accepted sockets.
    if (listener < 0 || setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0 ||
        setsockopt(listener, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes) != 0 ||
        bind(listener, (struct sockaddr *)&address, sizeof address) != 0 || listen(listener, backlog) != 0 ||
        getsockname(listener, (struct sockaddr *)&address, &size) != 0) {
        fail("listen");
    }
    printf("%d\n", ntohs(address.sin_port));
    fflush(stdout);
    return listener;
}

static void accept_all(int listener) {
    for (;;) {
        int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0) {
            if (errno == EAGAIN) return;
            if (errno == ECONNABORTED || errno == EINTR) continue;
            fail("accept4");
        }
        Connection *connection = calloc(1, sizeof *connection);
        SSL *ssl = SSL_new(context);
        if (connection == NULL || ssl == NULL || SSL_set_fd(ssl, fd) != 1) fail("a connection could not be set up");
        add_descriptor(fd, connection);
        SSL_set_accept_state(ssl);
        connection->fd = fd;
        connection->ssl = ssl;
    }
}

int main(int count, char **arguments) {
    if (count != 4 && count != 5) {
        fprintf(stderr, "usage: floor PORT CERTIFICATE KEY [REDIS-PORT]\n");
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0) fail("getrlimit");
    files.rlim_cur = files.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &files) != 0) fail("setrlimit");

    make_context(arguments[2], arguments[3]);
    epoll = epoll_create1(EPOLL_CLOEXEC);
    if (epoll < 0) fail("epoll_create1");
    if (count == 5) redis_open(atoi(arguments[4]));
    int listener = listen_at(atoi(arguments[1]));
    add_descriptor(listener, NULL);

    static struct epoll_event events[events_max];
    for (;;) {
        int ready = epoll_wait(epoll, events, events_max, -1);
        if (ready < 0 && errno != EINTR) fail("epoll_wait");
        // Each connection is there once, and handling it closes no other: no event is of a connection already freed.
        for (int index = 0; index < ready; index++) {
            void *data = events[index].data.ptr;
            if (data == NULL) accept_all(listener);
            else if (!redis_event(data, events[index].events)) handle_event(data, events[index].events);
        }
        redis_flush();
        topics_deliver();
        // Members that could not be served have left.
        redis_flush();
    }
}
