/* SPDX-License-Identifier: MIT */
/* Parsers of the texts that Linux shows under /proc and /sys. Pure: text in,
 * numbers out, so that they are tested without the files. Each returns 0, or
 * -1 when the text does not hold what it should; then the outputs are left as
 * they were. Text must end with NUL and may be cut short. Any thread. */
#ifndef RD_DAEMON_PROC_H
#define RD_DAEMON_PROC_H

#include <stddef.h>
#include <stdint.h>

/* Clock ticks of all CPUs since boot, first line of /proc/stat. */
struct rd_proc_cpu {
    uint64_t user, system, iowait, steal, total;
};

/* /proc/loadavg; `running` counts runnable tasks. */
int rd_proc_loadavg(const char *text, double load[3], int64_t *running);
int rd_proc_cpu(const char *text, struct rd_proc_cpu *cpu);
/* One "Name:  value [kB]" line of /proc/meminfo or /proc/self/status, in
 * bytes where the line says kB. */
int rd_proc_field(const char *text, const char *name, int64_t *value);
/* /proc/self/statm, in pages. */
int rd_proc_statm(const char *text, int64_t *virtual_pages, int64_t *rss_pages);
/* Adds the bytes of every whole line of /proc/net/dev but those of "lo", and
 * returns the length of the whole lines (-1: there was none). */
long rd_proc_net_dev(const char *text, uint64_t *received, uint64_t *sent);
/* Column `name` of protocol `proto` ("Tcp", "TcpExt") in /proc/net/snmp or
 * /proc/net/netstat: a line of names, then a line of values. */
int rd_proc_net_column(const char *text, const char *proto, const char *name,
                       int64_t *value);
/* Share of time in which some task waited, avg10 of /proc/pressure/X, 0..1. */
int rd_proc_pressure(const char *text, double *ratio);
/* Path of the cgroup v2 line in /proc/self/cgroup, without newline. */
int rd_proc_cgroup(const char *text, char *path, size_t size);
/* memory.max or memory.current; "max" gives -1, no limit. */
int rd_proc_cgroup_bytes(const char *text, int64_t *value);
/* cpu.max in CPUs; "max" gives NaN, no limit. */
int rd_proc_cgroup_cpus(const char *text, double *cpus);
/* PRETTY_NAME of /etc/os-release, unquoted. */
int rd_proc_os_name(const char *text, char *name, size_t size);

#endif
