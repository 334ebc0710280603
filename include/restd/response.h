/* SPDX-License-Identifier: MIT */
/* Responses, as handlers and plugins make them: status, fields, and content
 * from bytes, text, memory of the caller's, a prepared response, a file
 * (restd/files.h) or a stream (restd/stream.h).
 *
 * Lives as its request, on the same loop thread: [loop]. What is set last
 * counts. */
#ifndef RESTD_RESPONSE_H
#define RESTD_RESPONSE_H

#include <restd/api.h>
#include <restd/error.h>
#include <restd/http.h>
#include <restd/json.h>

RESTD_BEGIN_DECLS

/** Sets the status, 200..599; 200 without a call. RESTD_ERANGE otherwise. */
RESTD_API int restd_response_set_status(struct restd_response *response,
                                        int status);
RESTD_API int restd_response_status(const struct restd_response *response);

/** Adds a header field, beside any of the same name. RESTD_EINVAL if the name
 * is no token, the value has CR, LF or another control character, or the
 * library writes the field itself (Content-Length, Transfer-Encoding,
 * Connection, Date); RESTD_ELIMIT if there is no room (4 KiB in all). Both are
 * copied. */
RESTD_API int restd_response_add_header(struct restd_response *response,
                                        const char *name, const char *value);
/** The same in place of any of the same name. */
RESTD_API int restd_response_set_header(struct restd_response *response,
                                        const char *name, const char *value);
/** Removes all fields of that name. */
RESTD_API void restd_response_remove_header(struct restd_response *response,
                                            const char *name);
/** Value of the first field of that name, Content-Type included; absent if
 * there is none. Dies with the next change. */
RESTD_API struct restd_slice
restd_response_header(const struct restd_response *response, const char *name);
/** Sets Content-Type (copied); "text/plain" without a call if there is content.
 * RESTD_EINVAL if it is empty, longer than 128 bytes or no field value. */
RESTD_API int restd_response_set_type(struct restd_response *response,
                                      const char *type);

/**
 * Header fields that are checked and laid out once and then added to many
 * responses for the price of a copy.
 * Owner: the caller. Lifetime: restd_fields_new() to restd_fields_free(), and
 * longer than the server that uses it. Thread: built by one, then [any].
 */
struct restd_fields;

/** Makes an empty set. RESTD_ENOMEM. */
RESTD_API RESTD_MUST_CHECK int restd_fields_new(struct restd_fields **fields);
/** Adds a field, Content-Type included; errors as restd_response_add_header().
 */
RESTD_API RESTD_MUST_CHECK int restd_fields_add(struct restd_fields *fields,
                                                const char *name,
                                                const char *value);
/** NULL is allowed. */
RESTD_API void restd_fields_free(struct restd_fields *fields);
/** Adds all of them to a response; a Content-Type in them replaces the
 * response's. RESTD_ELIMIT if there is no room. */
RESTD_API int restd_response_add_fields(struct restd_response *response,
                                        const struct restd_fields *fields);

/** Sets the content to a copy of `len` bytes. RESTD_ENOMEM when the memory
 * budget has no room. */
RESTD_API RESTD_MUST_CHECK int
restd_response_body(struct restd_response *response, const void *data,
                    size_t len);
/** Sets the content to a copy of what a writer has written, and its type to
 * application/json. RESTD_ELIMIT if the writer's buffer was too small;
 * RESTD_ENOMEM as above. */
RESTD_API RESTD_MUST_CHECK int
restd_response_json(struct restd_response *response,
                    const struct restd_json *json);
/** Appends a copy of `len` bytes to the content. RESTD_ENOMEM as above,
 * RESTD_ESTATE of a stream. */
RESTD_API RESTD_MUST_CHECK int
restd_response_append(struct restd_response *response, const void *data,
                      size_t len);
/** Sets the content to `len` bytes that stay valid and unchanged until the
 * handler has returned. Never fails. */
RESTD_API void restd_response_body_borrowed(struct restd_response *response,
                                            const void *data, size_t len);
/** Sets the content to `len` bytes that stay valid and unchanged as long as
 * the server has the handler's router (a constant, or what `free` of one of its
 * plugins frees): sent without a copy, however slow the peer.
 * RESTD_ENOMEM when the memory budget has no room.
 */
RESTD_API RESTD_MUST_CHECK int
restd_response_body_static(struct restd_response *response, const void *data,
                           size_t len);
/** Sets the content to `len` bytes of a file from `offset` on, and takes the
 * descriptor: it is closed when they have gone, or on an error. The file's
 * bytes go from the kernel to the kernel; one that has become shorter ends the
 * connection, as its length is promised. RESTD_EOF if it is seen to be shorter
 * now, RESTD_ENOMEM, RESTD_EOS; RESTD_ELIMIT
 * when the descriptor limit leaves no place for one more file under way. */
RESTD_API RESTD_MUST_CHECK int
restd_response_file(struct restd_response *response, int fd, uint64_t offset,
                    uint64_t len);
/** Appends formatted text, at most 16 KiB a call (RESTD_ELIMIT), to the
 * content. RESTD_ENOMEM as above. */
RESTD_API RESTD_MUST_CHECK int
restd_response_printf(struct restd_response *response, const char *format, ...)
    RESTD_PRINTF(2, 3);
/** Length of the content as it stands; UINT64_MAX of a stream. */
RESTD_API uint64_t
restd_response_body_len(const struct restd_response *response);

/**
 * A response that is made once and sent many times without being copied.
 * Owner: shared; freed with its last reference. Lifetime: responses that are
 * under way hold a reference of their own. Thread: [any].
 */
struct restd_prepared;
/** Makes one, with the fields (NULL: none; copied) and a copy of the content.
 * RESTD_ERANGE for the status, RESTD_ENOMEM. */
RESTD_API RESTD_MUST_CHECK int
restd_prepared_new(int status, const struct restd_fields *fields,
                   const void *body, size_t len,
                   struct restd_prepared **prepared);
RESTD_API struct restd_prepared *
restd_prepared_ref(struct restd_prepared *prepared);
/** NULL is allowed. */
RESTD_API void restd_prepared_unref(struct restd_prepared *prepared);
/** Answers with it: sets status and content and adds its fields. */
RESTD_API int restd_response_prepared(struct restd_response *response,
                                      struct restd_prepared *prepared);

/** Sends the client elsewhere: status 301, 302, 303, 307 or 308 (RESTD_ERANGE
 * otherwise) and Location, a URI reference; RESTD_EINVAL as for a header. */
RESTD_API int restd_response_redirect(struct restd_response *response,
                                      int status, const char *location);
/** Makes the response a problem document, RFC 9457: status, its IANA phrase as
 * title, and `detail` (copied; NULL: none). */
RESTD_API int restd_response_problem(struct restd_response *response,
                                     int status, const char *detail);
/** Takes back status, fields and content, but not the fields that `before`
 * functions have set. */
RESTD_API void restd_response_reset(struct restd_response *response);

RESTD_END_DECLS

#endif
