/* SPDX-License-Identifier: MIT */
/* What the host and this process look like, sampled once a second.
 *
 * Owner: status.c. Lifetime: rd_host_init() to rd_host_fini().
 * Thread: one at a time: main until the server runs, then the control thread.
 */
#ifndef RD_DAEMON_HOST_H
#define RD_DAEMON_HOST_H

#include <stddef.h>
#include <stdint.h>

#include "daemon/proc.h"

/* Files that are read every second; their descriptors stay open, so that the
 * figures do not vanish when descriptors run out. */
enum rd_host_file {
    RD_HOST_LOADAVG,
    RD_HOST_STAT,
    RD_HOST_MEMINFO,
    RD_HOST_NET_DEV,
    RD_HOST_NET_SNMP,
    RD_HOST_NET_NETSTAT,
    RD_HOST_PRESSURE_CPU,
    RD_HOST_PRESSURE_MEMORY,
    RD_HOST_PRESSURE_IO,
    RD_HOST_SELF_STATM,
    RD_HOST_SELF_STATUS,
    RD_HOST_PROC_DIR,
    RD_HOST_FD_DIR,
    RD_HOST_FILES_N
};

/* One sample. Absent: -1 for integers, NaN for doubles, "" for texts. */
struct rd_host_sample {
    int64_t sampled_unix_ms;
    /* the process */
    int64_t rss_bytes, rss_peak_bytes, rss_anon_bytes, virtual_bytes;
    double cpu_user_s, cpu_system_s, cpu_ratio;
    int64_t fds_open, fds_limit;
    /* the host */
    char hostname[72], os[128], kernel[72], arch[72];
    int64_t booted_unix_ms, uptime_s;
    double load[3];
    int64_t cpus, cpus_usable;
    double busy_ratio, user_ratio, system_ratio, iowait_ratio, steal_ratio;
    int64_t memory_total_bytes, memory_available_bytes;
    int64_t swap_total_bytes, swap_free_bytes;
    int64_t received_bytes, sent_bytes, tcp_established, tcp_listen_overflows;
    int64_t disk_total_bytes, disk_available_bytes;
    double disk_used_ratio;
    int64_t processes, running;
    double pressure_cpu, pressure_memory, pressure_io;
    int64_t cgroup_limit_bytes, cgroup_used_bytes;
    double cgroup_cpus;
};

struct rd_host {
    int fds[RD_HOST_FILES_N];
    char cgroup[256]; /* directory of the own cgroup, "" without v2 */
    long page_bytes;
    unsigned tick;
    /* of the sample before, for differences */
    struct rd_proc_cpu cpu;
    uint64_t mono_ns, own_cpu_ns;
    struct rd_host_sample sample;
    char buf[8192]; /* where a file is read into */
};

/* `root` comes before every path, "" but in tests. Takes the first sample. */
void rd_host_init(struct rd_host *host, const char *root);
/* Renews host->sample. */
void rd_host_sample(struct rd_host *host);
void rd_host_fini(struct rd_host *host);

#endif
