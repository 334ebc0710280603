/* SPDX-License-Identifier: MIT */
/* Reader of form contents: application/x-www-form-urlencoded (WHATWG URL
 * standard, section 5.1) and multipart/form-data (RFC 7578, RFC 2046 section
 * 5.1). Bytes are pushed in as they come, in pieces of any size, and parts
 * come out by call-backs, the same ones for both types. */
#ifndef RESTD_FORM_H
#define RESTD_FORM_H

#include <restd/api.h>
#include <restd/error.h>

RESTD_BEGIN_DECLS

/**
 * Head of a part. Slices die with the call that got them.
 *
 * Warning: `filename` is what the client says, decoded but otherwise as it
 * came: it may hold slashes, backslashes, "..", a drive letter or nothing at
 * all. Never open a file by it.
 */
struct restd_form_part {
    struct restd_slice name;     /* any octets; may be empty */
    struct restd_slice filename; /* absent: a field, not a file */
    struct restd_slice type;     /* Content-Type as sent; absent: none */
};

/**
 * Call-backs: for each part `part`, then `content` for every stretch of its
 * content (not at all if it is empty), then `end`; a part that is cut by an
 * error or the end of the input has no `end`. Any of them may be NULL. A
 * negative result ends the reading and is what the feeding call returns. None
 * may free or feed the reader.
 */
struct restd_form_ops {
    size_t size; /* sizeof(struct restd_form_ops) */
    int (*part)(const struct restd_form_part *part, void *data);
    int (*content)(const char *bytes, size_t len, void *data);
    int (*end)(void *data);
};

/**
 * Limits; more is RESTD_ELIMIT. Set it up with restd_form_limits_init();
 * `size` lets fields be added. 0 means no limit.
 */
struct restd_form_limits {
    size_t size;
    uint32_t parts_max;       /* default 100 */
    uint32_t name_max_bytes;  /* of a name, of a file name; default 256, never
                                 more than 4096 */
    uint64_t field_max_bytes; /* content of a part without file name, decoded;
                                 default 64 KiB. Files: as the callee wants */
};

/** Fills in the defaults of the first `size` bytes; for
 * restd_form_limits_init(). [any thread] */
RESTD_API void restd_form_limits_init_size(struct restd_form_limits *limits,
                                           size_t size);
/** Fills in the defaults. Inline, so that it knows the size that the caller
 * was built with. [any thread] */
static inline void restd_form_limits_init(struct restd_form_limits *limits)
{
    restd_form_limits_init_size(limits, sizeof(*limits));
}

/**
 * A reader of one content. Takes less than 4.5 KiB whatever comes in: names,
 * or the header section of a part (at most 4 KiB, more: RESTD_ELIMIT), are
 * gathered in it, contents are not.
 * Owner: the caller. Lifetime: restd_form_new() to restd_form_free().
 * Thread: one at a time; call-backs run inside the feeding call.
 */
struct restd_form;

/**
 * Makes a reader for a Content-Type field value. `ops` and `limits` (NULL: the
 * defaults) are copied, `data` is handed to the call-backs.
 * RESTD_EINVAL for another type, or multipart/form-data without a boundary
 * that is one (RFC 2046 section 5.1.1: 1 to 70 characters); RESTD_ENOMEM.
 */
RESTD_API RESTD_MUST_CHECK int restd_form_new(
    struct restd_slice content_type, const struct restd_form_limits *limits,
    const struct restd_form_ops *ops, void *data, struct restd_form **form);

/**
 * Reads on. 0; RESTD_EINVAL for malformed multipart; RESTD_ELIMIT; what a
 * call-back returned; the same again in every call behind an error;
 * RESTD_ESTATE behind restd_form_finish().
 *
 * A part of multipart/form-data needs a Content-Disposition of form-data with
 * one name and at most one file name; in their quotes \" and %22 are a quote
 * and \\ is a backslash, all else is kept as it is, and `filename*` is ignored
 * (RFC 7578 section 4.2). Lines end with CRLF and are not folded.
 * Content-Transfer-Encoding may only say that there is none (section 4.7).
 * Text around the parts is skipped. Nothing that urlencoded data may hold is
 * malformed: a bad escape is text.
 */
RESTD_API RESTD_MUST_CHECK int restd_form_feed(struct restd_form *form,
                                               const char *bytes, size_t len);

/** Says that the content is complete: calls what is left to call, and returns
 * as restd_form_feed(); RESTD_EINVAL if multipart lacks its closing line. */
RESTD_API RESTD_MUST_CHECK int restd_form_finish(struct restd_form *form);

/** NULL is allowed. */
RESTD_API void restd_form_free(struct restd_form *form);

/** Reads a content that is there as a whole: new, feed, finish, free. */
RESTD_API RESTD_MUST_CHECK int
restd_form_read(struct restd_slice content_type, struct restd_slice body,
                const struct restd_form_limits *limits,
                const struct restd_form_ops *ops, void *data);

RESTD_END_DECLS

#endif
