// The least of HTTP/1.1 (RFC 9112) and WebSocket (RFC 6455) that the load tool speaks.
#include "floor.h"

#include <openssl/evp.h>
#include <openssl/sha.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char taken_answer[] = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
static const char refused_answer[] = "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n";

static bool send_text(Connection *connection, const char *text) {
    return send_bytes(connection, text, strlen(text));
}

// The value of a header of `head`; NULL when it is not there. `name` has its colon.
static const char *header(const char *head, const char *name) {
    const char *found = strcasestr(head, name);
    if (found == NULL || found[-1] != '\n') return NULL;
    found += strlen(name);
    return found + strspn(found, " \t");
}

// The topic of the path after `prefix`, NULL when the head begins otherwise.
static Topic *topic_in(const char *head, const char *prefix) {
    size_t skipped = strlen(prefix);
    if (strncmp(head, prefix, skipped) != 0) return NULL;
    size_t length = strcspn(head + skipped, " ?\r");
    return length == 0 || length > topic_name_max ? NULL : topic_named(head + skipped, length);
}

static bool upgrade(Connection *connection, const char *head, Topic *topic) {
    const char *key = header(head, "sec-websocket-key:");
    if (key == NULL || strcspn(key, " \r") != 24) return false;
    char text[24 + 36 + 1], accept[29], answer[160];
    unsigned char digest[SHA_DIGEST_LENGTH];
    snprintf(text, sizeof text, "%.24s258EAFA5-E914-47DA-95CA-C5AB0DC85B11", key);
    SHA1((unsigned char *)text, sizeof text - 1, digest);
    EVP_EncodeBlock((unsigned char *)accept, digest, sizeof digest);
    snprintf(answer, sizeof answer,
             "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
             "Sec-WebSocket-Accept: %s\r\n\r\n",
             accept);
    topic_join(topic, connection);
    if (!connection->is_joining) return send_text(connection, answer);
    hold_bytes(connection, answer, strlen(answer));
    return true;
}

void answer_publish(Connection *connection, bool is_taken) {
    if (!send_text(connection, is_taken ? taken_answer : refused_answer)) close_later(connection);
}

// Bytes of the request at the beginning of `bytes`: 0 when it has not wholly come, -1 to close.
static ptrdiff_t handle_request(Connection *connection, unsigned char *bytes, size_t length) {
    unsigned char *end = memmem(bytes, length, "\r\n\r\n", 4);
    if (end == NULL) return 0;
    size_t head_length = (size_t)(end + 4 - bytes);
    char *head = (char *)bytes;
    unsigned char after = bytes[head_length];
    bytes[head_length] = 0;

    ptrdiff_t used = (ptrdiff_t)head_length;
    Topic *topic = topic_in(head, "POST /pub/");
    if (topic != NULL) {
        const char *field = header(head, "content-length:");
        size_t body_length = field == NULL ? 0 : strtoul(field, NULL, 10);
        bytes[head_length] = after;
        if (field == NULL || body_length > input_max - head_length) return -1;
        if (length - head_length < body_length) return 0;
        used += (ptrdiff_t)body_length;
        if (has_redis()) {
            redis_publish(connection, topic, bytes + head_length, body_length);
            return used;
        }
        topic_publish(topic, bytes + head_length, body_length);
        return send_text(connection, taken_answer) ? used : -1;
    }
    // An answer would overtake those that Redis owes.
    if (connection->answers_due > 0) return -1;
    topic = topic_in(head, "GET /sub/");
    bool sent;
    if (topic != NULL) {
        sent = upgrade(connection, head, topic);
    } else {
        connection->closing = true;
        sent = send_text(connection, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    }
    bytes[head_length] = after;
    return sent ? used : -1;
}

// Bytes of the frame at the beginning of `bytes`: 0 when it has not wholly come, -1 to close.
static ptrdiff_t handle_frame(Connection *connection, unsigned char *bytes, size_t length) {
    if (length < 2) return 0;
    unsigned opcode = bytes[0] & 0x0F;
    size_t payload_length = bytes[1] & 0x7F;
    size_t head_length = 2 + 4;
    if (!(bytes[1] & 0x80) || payload_length == 127) return -1; // not masked, or larger than fits
    if (payload_length == 126) {
        if (length < 4) return 0;
        payload_length = (size_t)(bytes[2] << 8 | bytes[3]);
        head_length += 2;
    }
    if (length < head_length + payload_length) return 0;
    if (opcode >= 8 && payload_length > 125) return -1;

    if (opcode == 8 || opcode == 9) { // close is answered by close, ping by pong
        unsigned char answer[2 + 125] = {opcode == 8 ? 0x88 : 0x8A, (unsigned char)payload_length};
        const unsigned char *mask = bytes + head_length - 4, *payload = bytes + head_length;
        for (size_t index = 0; index < payload_length; index++) answer[2 + index] = payload[index] ^ mask[index % 4];
        if (!send_bytes(connection, answer, 2 + payload_length)) return -1;
        if (opcode == 8) connection->closing = true;
    }
    return (ptrdiff_t)(head_length + payload_length);
}

ptrdiff_t handle_input(Connection *connection, unsigned char *bytes, size_t length) {
    size_t used = 0;
    while (used < length && !connection->closing) {
        ptrdiff_t taken = connection->topic == NULL ? handle_request(connection, bytes + used, length - used)
                                                    : handle_frame(connection, bytes + used, length - used);
        if (taken < 0) return -1;
        if (taken == 0) break;
        used += (size_t)taken;
    }
    return (ptrdiff_t)used;
}
