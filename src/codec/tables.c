/* SPDX-License-Identifier: MIT */
/* Names for numbers: status phrases of the IANA registry and methods. Constant
 * data only; any thread. */
#include <restd/http.h>

static const char *const informational[] = {
    [0] = "Continue",
    [1] = "Switching Protocols",
    [2] = "Processing",
    [3] = "Early Hints",
};

static const char *const successful[] = {
    [0] = "OK",
    [1] = "Created",
    [2] = "Accepted",
    [3] = "Non-Authoritative Information",
    [4] = "No Content",
    [5] = "Reset Content",
    [6] = "Partial Content",
    [7] = "Multi-Status",
    [8] = "Already Reported",
    [26] = "IM Used",
};

static const char *const redirection[] = {
    [0] = "Multiple Choices",   [1] = "Moved Permanently",  [2] = "Found",
    [3] = "See Other",          [4] = "Not Modified",       [5] = "Use Proxy",
    [7] = "Temporary Redirect", [8] = "Permanent Redirect",
};

static const char *const client_error[] = {
    [0] = "Bad Request",
    [1] = "Unauthorized",
    [2] = "Payment Required",
    [3] = "Forbidden",
    [4] = "Not Found",
    [5] = "Method Not Allowed",
    [6] = "Not Acceptable",
    [7] = "Proxy Authentication Required",
    [8] = "Request Timeout",
    [9] = "Conflict",
    [10] = "Gone",
    [11] = "Length Required",
    [12] = "Precondition Failed",
    [13] = "Content Too Large",
    [14] = "URI Too Long",
    [15] = "Unsupported Media Type",
    [16] = "Range Not Satisfiable",
    [17] = "Expectation Failed",
    [21] = "Misdirected Request",
    [22] = "Unprocessable Content",
    [23] = "Locked",
    [24] = "Failed Dependency",
    [25] = "Too Early",
    [26] = "Upgrade Required",
    [28] = "Precondition Required",
    [29] = "Too Many Requests",
    [31] = "Request Header Fields Too Large",
    [51] = "Unavailable For Legal Reasons",
};

static const char *const server_error[] = {
    [0] = "Internal Server Error",
    [1] = "Not Implemented",
    [2] = "Bad Gateway",
    [3] = "Service Unavailable",
    [4] = "Gateway Timeout",
    [5] = "HTTP Version Not Supported",
    [6] = "Variant Also Negotiates",
    [7] = "Insufficient Storage",
    [8] = "Loop Detected",
    [10] = "Not Extended",
    [11] = "Network Authentication Required",
};

/* By the first digit; within it by the other two. */
static const struct {
    const char *const *phrases;
    unsigned n;
} classes[] = {
#define CLASS(name)                                                            \
    {                                                                          \
        name, sizeof(name) / sizeof((name)[0])                                 \
    }
    CLASS(informational), CLASS(successful),   CLASS(redirection),
    CLASS(client_error),  CLASS(server_error),
#undef CLASS
};

const char *restd_status_phrase(int status)
{
    static const char unknown[] = "Unknown";
    if (status < 100 || status >= 600) {
        return unknown;
    }
    unsigned class = (unsigned)status / 100 - 1;
    unsigned i = (unsigned)status % 100;
    const char *phrase =
        i < classes[class].n ? classes[class].phrases[i] : NULL;
    return phrase != NULL ? phrase : unknown;
}

const char *restd_method_name(enum restd_method method)
{
    static const char *const names[RESTD_METHODS_N] = {
#define X(name) [RESTD_METHOD_##name] = #name,
        RESTD_METHOD_MAP(X)
#undef X
    };
    return (unsigned)method < RESTD_METHODS_N ? names[method] : NULL;
}
