// libcurl, and functions in place of its variadic ones, which Swift cannot import.
#ifndef SWITCHBOARD_CCURL_H
#define SWITCHBOARD_CCURL_H

#include <curl/curl.h>

/// Prepares the library for the process; true when it can be used.
static inline int switchboard_curl_start(void) {
    return curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
}

/// The functions that libcurl calls while it reads an answer.
typedef size_t (*switchboard_curl_bytes)(char *bytes, size_t size, size_t count, void *context);

static inline CURLcode switchboard_curl_set_text(CURL *easy, CURLoption option, const char *text) {
    return curl_easy_setopt(easy, option, text);
}

static inline CURLcode switchboard_curl_set_number(CURL *easy, CURLoption option, long number) {
    return curl_easy_setopt(easy, option, number);
}

/// The body of a POST; it is copied.
static inline CURLcode switchboard_curl_set_body(CURL *easy, const void *bytes, size_t count) {
    CURLcode code = curl_easy_setopt(easy, CURLOPT_POST, 1L);
    if (code == CURLE_OK) code = curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)count);
    return code == CURLE_OK ? curl_easy_setopt(easy, CURLOPT_COPYPOSTFIELDS, (const char *)bytes) : code;
}

/// The list must live until the transfer has ended.
static inline CURLcode switchboard_curl_set_headers(CURL *easy, struct curl_slist *list) {
    return curl_easy_setopt(easy, CURLOPT_HTTPHEADER, list);
}

/// Who is told of the answer's head and body, and handed back by `switchboard_curl_context`.
static inline CURLcode switchboard_curl_set_answer(
    CURL *easy, switchboard_curl_bytes head, switchboard_curl_bytes body, void *context) {
    CURLcode code = curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, head);
    if (code == CURLE_OK) code = curl_easy_setopt(easy, CURLOPT_HEADERDATA, context);
    if (code == CURLE_OK) code = curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, body);
    if (code == CURLE_OK) code = curl_easy_setopt(easy, CURLOPT_WRITEDATA, context);
    return code == CURLE_OK ? curl_easy_setopt(easy, CURLOPT_PRIVATE, context) : code;
}

static inline void *switchboard_curl_context(CURL *easy) {
    char *context = NULL;
    return curl_easy_getinfo(easy, CURLINFO_PRIVATE, &context) == CURLE_OK ? context : NULL;
}

/// A number that is known of a transfer; 0 when it is not.
static inline long switchboard_curl_fact(CURL *easy, CURLINFO fact) {
    long number = 0;
    return curl_easy_getinfo(easy, fact, &number) == CURLE_OK ? number : 0;
}

/// The whole-transfer functions of one event loop.
static inline int switchboard_curl_watch(
    CURLM *multi, curl_socket_callback socket, curl_multi_timer_callback timer, void *context) {
    return curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, socket) == CURLM_OK
        && curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, context) == CURLM_OK
        && curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, timer) == CURLM_OK
        && curl_multi_setopt(multi, CURLMOPT_TIMERDATA, context) == CURLM_OK;
}

static inline CURLMcode switchboard_curl_set_multi(CURLM *multi, CURLMoption option, long number) {
    return curl_multi_setopt(multi, option, number);
}

/// A transfer that has ended, and how; NULL when there is none.
static inline CURL *switchboard_curl_ended(CURLM *multi, CURLcode *result) {
    int left = 0;
    CURLMsg *message;
    while ((message = curl_multi_info_read(multi, &left)) != NULL) {
        if (message->msg != CURLMSG_DONE) continue;
        *result = message->data.result;
        return message->easy_handle;
    }
    return NULL;
}

/// Lets libcurl work: on a socket, or with -1 on what its timer is for.
static inline void switchboard_curl_work(CURLM *multi, int socket, int events) {
    int running = 0;
    curl_multi_socket_action(multi, socket, events, &running);
}

#endif
