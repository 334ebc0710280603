/* SPDX-License-Identifier: MIT */
/* Plugins that the library brings: access log, request id, CORS, rate limit,
 * access list, default headers, gzip.
 *
 * Each function here checks its options and fills in a struct restd_plugin for
 * restd_router_use() or restd_router_use_on(), which takes it with its data;
 * one that is given to neither is freed by plugin->free(plugin->data). Strings
 * in options are copied. On an error nothing is made, and `error` (may be NULL)
 * has a sentence: RESTD_EINVAL, RESTD_ELIMIT, RESTD_ENOMEM. Options begin with
 * their size, so that fields can be added: set them up with their _init().
 *
 * Plugins run in the order in which they were added. What answers for others,
 * such as CORS, comes before what refuses, such as authentication. */
#ifndef RESTD_PLUGINS_H
#define RESTD_PLUGINS_H

#include <restd/api.h>
#include <restd/error.h>
#include <restd/http.h>
#include <restd/plugin.h>
#include <restd/response.h>

RESTD_BEGIN_DECLS

/** Takes a line of the access log, terminated and without newline. [any loop
 * thread, several at once]: must not block. */
typedef void restd_access_log_fn(const char *line, size_t len, void *data);

/**
 * Owner: the caller. Thread: [any], one at a time; so with all options here.
 */
struct restd_access_log_options {
    size_t size;
    restd_access_log_fn *write; /* NULL: the server's log, RESTD_LOG_ACCESS */
    void *data;                 /* of write; outlives the server */
    const char *format;         /* see below; NULL: "combined" */
    uint32_t sample;            /* of so many requests one has a line; 1 */
    uint32_t slow_ms; /* requests that take so long always have; 0: none */
    int min_status;   /* others have none with a lower status; 0 */
};
RESTD_API void
restd_access_log_options_init_size(struct restd_access_log_options *options,
                                   size_t size);
static inline void
restd_access_log_options_init(struct restd_access_log_options *options)
{
    restd_access_log_options_init_size(options, sizeof(*options));
}

/**
 * Access log: a line for each request when it has ended. `format` is one of
 *
 * - "combined": what goaccess, fail2ban and others read:
 *   `192.0.2.1 - - [10/Oct/2000:13:55:36 -0700] "GET /a HTTP/1.1" 200 2326
 *   "http://referer.example/" "agent/1.0"` in one line;
 * - "common": without the last two; "vcombined": "combined" behind host:port;
 * - "json", "logfmt": the same with names, and host, duration and request id;
 * - a pattern with $remote_addr, $remote_user ("-"), $time_local,
 *   $time_iso8601, $msec (seconds since 1970), $request, $request_method,
 *   $request_uri, $server_protocol, $status, $body_bytes_sent, $request_time
 *   (seconds since the first byte), $request_id, $host, $vhost (with a port),
 *   $http_NAME (a header field, in lower case with '_' for '-').
 *
 * The time is that of the end, local and with its zone. What is absent is "-"
 * (null in JSON), so is the request line of what was no request (400, 408,
 * 431), and, but for JSON, logfmt and patterns, a content of 0 bytes. Status 499
 * is a client that left before the reply. Octets that could forge or break a
 * line (controls, '"', '\', 0x7f and above) are written as \xHH; in JSON and
 * logfmt as their strings have them, and valid UTF-8 is kept. A line has at most
 * 2000 bytes: what is too long is cut and ends with "...". A reply that was
 * given up has the status and as much content as were sent of it.
 *
 * `sample` counts on each loop; errors (400 and above) are not left out by it.
 * Whatever the options say, slow requests have a line.
 *
 * RESTD_EINVAL for a format that is none, with the nearest name. `options` may
 * be NULL.
 */
RESTD_API RESTD_MUST_CHECK int
restd_access_log(const struct restd_access_log_options *options,
                 struct restd_plugin *plugin, struct restd_error *error);

struct restd_request_id_options {
    size_t size;
    const char *header;  /* field name; NULL: "X-Request-Id" */
    uint8_t accept;      /* keep a client's id if it is valid; 1 */
    uint8_t traceparent; /* send a valid one back; 1 */
};
RESTD_API void
restd_request_id_options_init_size(struct restd_request_id_options *options,
                                   size_t size);
static inline void
restd_request_id_options_init(struct restd_request_id_options *options)
{
    restd_request_id_options_init_size(options, sizeof(*options));
}

/**
 * Gives each request an id, in a field of the request and of whatever reply it
 * gets. A client's is kept if it is 1 to 128 of A-Z a-z 0-9 '.' '_' '~' '-';
 * else one of 128 random bits is made, as 32 hexadecimal digits: unique, but
 * no secret, as who has seen some can tell the next. `traceparent` (W3C Trace
 * Context, version 00) is sent back as it came if it is valid and the only
 * one. Where two of these hold for a request, the outer one counts. `options`
 * may be NULL.
 */
RESTD_API RESTD_MUST_CHECK int
restd_request_id_plugin(const struct restd_request_id_options *options,
                        struct restd_plugin *plugin, struct restd_error *error);
/** Id that such a plugin has given to the request; absent without one. [loop]
 */
RESTD_API struct restd_slice
restd_request_id(const struct restd_request *request);

struct restd_cors_options {
    size_t size;
    /* Lists are as in the fields, with commas. */
    const char *origins; /* "https://a.example, http://b.example:8080"; "*" */
    const char *methods; /* NULL: GET, HEAD, POST, PUT, PATCH, DELETE */
    const char *headers; /* of requests, beside the safelisted; NULL: none */
    const char *exposed; /* of replies, likewise */
    uint32_t max_age_s;  /* of a preflight's answer; 600; 0: not said */
    uint8_t credentials; /* cookies and the like may be sent; 0 */
};
RESTD_API void restd_cors_options_init_size(struct restd_cors_options *options,
                                            size_t size);
static inline void restd_cors_options_init(struct restd_cors_options *options)
{
    restd_cors_options_init_size(options, sizeof(*options));
}

/**
 * The CORS protocol of the Fetch standard, for a router; not for one route, as
 * a preflight finds none. An allowed origin (exactly as listed, no pattern)
 * gets Access-Control-Allow-Origin and what belongs to it in all replies,
 * errors included; `Vary: Origin` goes into every reply unless the origin is
 * "*". A preflight is answered with 204 before routes and later plugins are
 * asked. That of a foreign origin as well, without any permission in it: the
 * verdict is the client's, a status would not change it, and nothing behind
 * the plugin is to see a preflight.
 *
 * RESTD_EINVAL also for "*" in any list together with credentials, which would
 * hand every user's session to every site, and which clients refuse. At most
 * 256 origins, and 2 KiB of fields in a reply.
 */
RESTD_API RESTD_MUST_CHECK int
restd_cors(const struct restd_cors_options *options,
           struct restd_plugin *plugin, struct restd_error *error);

struct restd_rate_limit_options {
    size_t size;
    uint32_t rate;      /* requests per period, 1..1000000; 10 */
    uint32_t period_ms; /* 1..3600000; 1000 */
    uint32_t burst;     /* at once after a rest, 1..1000000; 20 */
    uint32_t entries;   /* addresses told apart, 4..1048576; 4096 */
};
RESTD_API void
restd_rate_limit_options_init_size(struct restd_rate_limit_options *options,
                                   size_t size);
static inline void
restd_rate_limit_options_init(struct restd_rate_limit_options *options)
{
    restd_rate_limit_options_init_size(options, sizeof(*options));
}

/**
 * Refuses requests beyond a rate with 429 and Retry-After, by the address of
 * the client: one IPv4 address or one IPv6 network of 64 bits, over all loops.
 * Peers of a unix socket are never refused; all clients of a proxy are one.
 *
 * Memory: 16 bytes for each entry, their number rounded up to a power of two
 * (64 KiB by default), when it is made and beside memory_budget. With more
 * addresses than that, those that have been quiet the longest are forgotten.
 * `options` may be NULL.
 */
RESTD_API RESTD_MUST_CHECK int
restd_rate_limit(const struct restd_rate_limit_options *options,
                 struct restd_plugin *plugin, struct restd_error *error);

/**
 * A set of addresses and networks.
 * Owner: the caller. Lifetime: restd_networks_new() to restd_networks_free().
 * Thread: [any]; immutable once made.
 */
struct restd_networks;

/**
 * Makes a set of a list with commas: addresses ("192.0.2.1", "2001:db8::1"),
 * networks ("192.0.2.0/24", "2001:db8::/32"), and "unix" for the peers of unix
 * sockets. "0.0.0.0/0" is all of IPv4 and "::/0" all of IPv6; addresses in
 * ::ffff:0:0/96 are the IPv4 ones that they stand for. Names are not resolved.
 *
 * RESTD_EINVAL for an empty list, for what is none of these, and for a network
 * with bits behind its prefix ("10.0.0.1/8"), of which the sentence says what
 * is meant; RESTD_ELIMIT for more than 4096, RESTD_ENOMEM.
 */
RESTD_API RESTD_MUST_CHECK int
restd_networks_new(const char *text, struct restd_networks **networks,
                   struct restd_error *error);
/** 1 if the peer of the request is in the set, or 0. In
 * restd_router_call() it is 127.0.0.1. [loop] */
RESTD_API int restd_networks_contains(const struct restd_networks *networks,
                                      const struct restd_request *request);
/** NULL is allowed. */
RESTD_API void restd_networks_free(struct restd_networks *networks);

struct restd_access_list_options {
    size_t size;
    /* Lists as in restd_networks_new(). */
    const char *allow; /* nobody else is let in; NULL: all are */
    const char *deny;  /* not let in, though they are in `allow`; NULL: none */
};
RESTD_API void
restd_access_list_options_init_size(struct restd_access_list_options *options,
                                    size_t size);
static inline void
restd_access_list_options_init(struct restd_access_list_options *options)
{
    restd_access_list_options_init_size(options, sizeof(*options));
}

/**
 * Refuses requests by the address of the client with 403. That of a client
 * behind a proxy is the proxy's. RESTD_EINVAL without both lists, else as
 * restd_networks_new().
 */
RESTD_API RESTD_MUST_CHECK int
restd_access_list(const struct restd_access_list_options *options,
                  struct restd_plugin *plugin, struct restd_error *error);

/**
 * Adds the fields (copied) to every reply; a handler may replace or remove
 * them. RESTD_EINVAL if Content-Type is among them, which is each content's
 * own.
 */
RESTD_API RESTD_MUST_CHECK int
restd_default_headers(const struct restd_fields *fields,
                      struct restd_plugin *plugin, struct restd_error *error);

struct restd_gzip_options {
    size_t size;
    const char *types;  /* list, see below; NULL: the usual texts */
    uint32_t min_bytes; /* of a whole content; 1024 */
    uint32_t max_bytes; /* of a whole content, at most 1 MiB; 65536 */
    uint8_t level;      /* 1 (fast) to 9 (small); 4 */
};
RESTD_API void restd_gzip_options_init_size(struct restd_gzip_options *options,
                                            size_t size);
static inline void restd_gzip_options_init(struct restd_gzip_options *options)
{
    restd_gzip_options_init_size(options, sizeof(*options));
}

/**
 * Compresses contents for clients that want gzip more than identity by all of
 * their Accept-Encoding (RFC 9110 section 12.5.3). First of the plugins, so
 * that it sees the content as the others have left it.
 *
 * What: replies of status 200 to 299 (but 204, 205, 206) that handlers and inner
 * wrappers make, if their type is one of `types`: a list with commas of types,
 * of types with an asterisk as subtype, and of ends such as "+json".
 * Not: those with one of Content-Encoding, Content-Range, Content-Digest,
 * Repr-Digest, Digest, Content-MD5, or with `Cache-Control: no-transform`, by
 * which a handler keeps a content as it is; event streams, which would hold
 * their memory for hours for the sake of a few bytes; what the `end` function
 * of an upload makes.
 *
 * Whole contents of min_bytes to max_bytes are compressed within the turn, for
 * which max_bytes bounds the time (64 KiB: about 1 ms), and sent as they were if
 * that does not make them smaller. Of a stream each piece that is written is
 * sent at once, so pieces should not be small; a loop compresses 4 streams at a
 * time, further ones go out as they are. So does all while memory is short (80 %
 * of the budget): 56 KiB per content under way.
 *
 * Whatever could have been compressed gets `Vary: Accept-Encoding`. What is
 * gets a weak ETag, as its octets are not those that the tag was made for, and
 * loses Accept-Ranges; so gets a 304 to a client that would have got gzip,
 * unless it has named the strong one in If-None-Match.
 * Beware that If-Match never holds for a weak tag: resources that clients edit
 * with it are better left as they are. HEAD is answered as GET, at the same
 * cost; for a stream as if it could be compressed.
 *
 * Where a reply has both a secret and what the client's request says, its
 * length tells of the secret (BREACH): use no-transform there. `options` may be
 * NULL.
 */
RESTD_API RESTD_MUST_CHECK int
restd_gzip(const struct restd_gzip_options *options,
           struct restd_plugin *plugin, struct restd_error *error);

RESTD_END_DECLS

#endif
