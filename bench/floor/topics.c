// Topics by name, their members, and the frames of this turn.
#include "floor.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { bucket_count = 4096 };

static Topic *buckets[bucket_count];
// The topics with frames to deliver at the end of this turn.
static Topic *changed;

static Topic **bucket_of(const char *name, size_t length) {
    uint32_t hash = 2166136261u; // FNV-1a
    for (size_t index = 0; index < length; index++) hash = (hash ^ (unsigned char)name[index]) * 16777619u;
    return &buckets[hash % bucket_count];
}

static Topic *found_in(Topic *const *bucket, const char *name, size_t length) {
    for (Topic *topic = *bucket; topic != NULL; topic = topic->next_in_bucket) {
        if (topic->name_length == length && memcmp(topic->name, name, length) == 0) return topic;
    }
    return NULL;
}

Topic *topic_found(const char *name, size_t length) { return found_in(bucket_of(name, length), name, length); }

Topic *topic_named(const char *name, size_t length) {
    Topic **bucket = bucket_of(name, length);
    Topic *known = found_in(bucket, name, length);
    if (known != NULL) return known;
    Topic *topic = calloc(1, sizeof *topic + length);
    if (topic == NULL) abort();
    memcpy(topic->name, name, length);
    topic->name_length = length;
    topic->next_in_bucket = *bucket;
    *bucket = topic;
    return topic;
}

void topic_join(Topic *topic, Connection *connection) {
    if (topic->member_count == topic->member_capacity) {
        topic->member_capacity = topic->member_capacity == 0 ? 1 : topic->member_capacity * 2;
        topic->members = realloc(topic->members, topic->member_capacity * sizeof *topic->members);
        if (topic->members == NULL) abort();
    }
    connection->topic = topic;
    connection->member = topic->member_count;
    topic->members[topic->member_count++] = connection;
    if (!has_redis()) return;
    if (topic->member_count == 1) redis_subscribe(topic);
    connection->is_joining = topic->unconfirmed > 0;
}

void topic_confirmed(Topic *topic) {
    if (--topic->unconfirmed > 0) return;
    for (size_t index = 0; index < topic->member_count; index++) {
        Connection *member = topic->members[index];
        if (!member->is_joining) continue;
        member->is_joining = false;
        if (!send_pending(member)) close_later(member);
    }
}

void topic_leave(Connection *connection) {
    Topic *topic = connection->topic;
    Connection *last = topic->members[--topic->member_count];
    topic->members[connection->member] = last;
    last->member = connection->member;
    connection->topic = NULL;
    if (has_redis() && topic->member_count == 0) redis_unsubscribe(topic);
}

void topic_publish(Topic *topic, const unsigned char *data, size_t length) {
    if (topic->member_count == 0) return;
    if (topic->frames_length == 0) {
        topic->next_changed = changed;
        changed = topic;
    }
    reserve(&topic->frames, &topic->frames_capacity, topic->frames_length + 4 + length);
    unsigned char *frame = topic->frames + topic->frames_length;
    *frame++ = 0x81; // RFC 6455, section 5.2: a whole text message
    if (length < 126) {
        *frame++ = (unsigned char)length;
    } else {
        *frame++ = 126;
        *frame++ = (unsigned char)(length >> 8);
        *frame++ = (unsigned char)length;
    }
    memcpy(frame, data, length);
    topic->frames_length = (size_t)(frame + length - topic->frames);
}

void topics_deliver(void) {
    while (changed != NULL) {
        Topic *topic = changed;
        changed = topic->next_changed;
        // Downwards: a member that is closed is replaced by the last one, which has been served.
        for (size_t index = topic->member_count; index-- > 0;) {
            Connection *member = topic->members[index];
            if (member->closing || member->is_joining) continue;
            if (!send_bytes(member, topic->frames, topic->frames_length)) close_connection(member);
        }
        topic->frames_length = 0;
    }
}
