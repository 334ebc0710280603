/* SPDX-License-Identifier: MIT */
/* What a configuration says of a log. */
#ifndef RD_DAEMON_LOG_CONFIG_H
#define RD_DAEMON_LOG_CONFIG_H

#include <stdint.h>

enum rd_log_target {
    RD_LOG_STDERR,
    RD_LOG_FILE,
    RD_LOG_SYSLOG,
    RD_LOG_JOURNAL, /* stderr, with the prefixes of sd-daemon(3) */
    RD_LOG_OFF
};

/* Owner: the configuration. Of messages, or of the access log, where only the
 * target and the path concern the sink. */
struct rd_config_log {
    enum rd_log_target target;
    const char *path; /* of RD_LOG_FILE */
    /* Messages: "auto", "text", "logfmt", "json"; NULL: "auto". Access log: as in
     * struct restd_access_log_options, as are the next three. */
    const char *format;
    uint32_t sample, slow_ms;
    int min_status;
};

#endif
