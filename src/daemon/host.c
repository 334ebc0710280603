/* SPDX-License-Identifier: MIT */
/* The host sampler: reads /proc, /sys and a few system calls into a struct.
 *
 * What changes by the second is read every time through descriptors that stay
 * open; what is dear or changes seldom (disk, number of processes, cgroup,
 * usable CPUs) every tenth time. A file that is missing or unreadable leaves
 * its figures absent; nothing here fails. There is no JSON here, status_json.c
 * writes it, and no timer, status.c calls.
 *
 * No allocation: one buffer, and getdents64() straight from the kernel in place
 * of readdir(). Thread: see host.h.
 */
#include "daemon/host.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

enum {
    SLOW_EVERY = 10,
    /* With more descriptors than this, counting them is slow, too. */
    FDS_SLOW_N = 2048
};

static const char *const file_paths[RD_HOST_FILES_N] = {
    [RD_HOST_LOADAVG] = "/proc/loadavg",
    [RD_HOST_STAT] = "/proc/stat",
    [RD_HOST_MEMINFO] = "/proc/meminfo",
    [RD_HOST_NET_DEV] = "/proc/net/dev",
    [RD_HOST_NET_SNMP] = "/proc/net/snmp",
    [RD_HOST_NET_NETSTAT] = "/proc/net/netstat",
    [RD_HOST_PRESSURE_CPU] = "/proc/pressure/cpu",
    [RD_HOST_PRESSURE_MEMORY] = "/proc/pressure/memory",
    [RD_HOST_PRESSURE_IO] = "/proc/pressure/io",
    [RD_HOST_SELF_STATM] = "/proc/self/statm",
    [RD_HOST_SELF_STATUS] = "/proc/self/status",
    [RD_HOST_PROC_DIR] = "/proc",
    [RD_HOST_FD_DIR] = "/proc/self/fd",
};

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec ts = {0, 0};
    clock_gettime(clock, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static uint64_t timeval_ns(struct timeval tv)
{
    return (uint64_t)tv.tv_sec * 1000000000u + (uint64_t)tv.tv_usec * 1000u;
}

/* Fills the buffer from `offset`; "" when there is nothing to read. */
static const char *read_at(struct rd_host *host, int fd, off_t offset)
{
    size_t len = 0;
    while (fd >= 0 && len < sizeof host->buf - 1) {
        ssize_t n = pread(fd, host->buf + len, sizeof host->buf - 1 - len,
                          offset + (off_t)len);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            break;
        }
        len += (size_t)n;
    }
    host->buf[len] = '\0';
    return host->buf;
}

static const char *read_file(struct rd_host *host, enum rd_host_file file)
{
    return read_at(host, host->fds[file], 0);
}

static const char *read_path(struct rd_host *host, const char *dir,
                             const char *name)
{
    char path[512];
    int len = snprintf(path, sizeof path, "%s%s", dir, name);
    int fd = len < (int)sizeof path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    const char *text = read_at(host, fd, 0);
    if (fd >= 0) {
        close(fd);
    }
    return text;
}

/* Entries of a directory whose names are numbers, or -1. */
static int64_t count_numbers(int fd)
{
    union {
        struct dirent64 align;
        char bytes[4096];
    } buf;
    int64_t n = 0;
    if (fd < 0 || lseek(fd, 0, SEEK_SET) < 0) {
        return -1;
    }
    for (;;) {
        ssize_t len = getdents64(fd, buf.bytes, sizeof buf.bytes);
        if (len <= 0) {
            return len < 0 ? -1 : n;
        }
        for (ssize_t at = 0; at < len;) {
            const struct dirent64 *entry =
                (const struct dirent64 *)(const void *)(buf.bytes + at);
            n += entry->d_name[0] >= '0' && entry->d_name[0] <= '9';
            at += entry->d_reclen;
        }
    }
}

static int64_t count_fds(struct rd_host *host)
{
    struct stat st;
    int fd = host->fds[RD_HOST_FD_DIR];
    /* Linux 6.2 and later know the number without being asked for the names. */
    if (fd >= 0 && fstat(fd, &st) == 0 && st.st_size > 0) {
        return (int64_t)st.st_size;
    }
    if (host->sample.fds_open > FDS_SLOW_N && host->tick % SLOW_EVERY != 0) {
        return host->sample.fds_open;
    }
    return count_numbers(fd);
}

static void sample_memory(struct rd_host *host, struct rd_host_sample *s)
{
    int64_t pages, rss;
    s->rss_bytes = s->virtual_bytes = -1;
    s->rss_peak_bytes = s->rss_anon_bytes = -1;
    if (rd_proc_statm(read_file(host, RD_HOST_SELF_STATM), &pages, &rss) == 0) {
        s->virtual_bytes = pages * host->page_bytes;
        s->rss_bytes = rss * host->page_bytes;
    }
    const char *text = read_file(host, RD_HOST_SELF_STATUS);
    rd_proc_field(text, "VmHWM", &s->rss_peak_bytes);
    rd_proc_field(text, "RssAnon", &s->rss_anon_bytes);

    s->memory_total_bytes = s->memory_available_bytes = -1;
    s->swap_total_bytes = s->swap_free_bytes = -1;
    text = read_file(host, RD_HOST_MEMINFO);
    rd_proc_field(text, "MemTotal", &s->memory_total_bytes);
    rd_proc_field(text, "MemAvailable", &s->memory_available_bytes);
    rd_proc_field(text, "SwapTotal", &s->swap_total_bytes);
    rd_proc_field(text, "SwapFree", &s->swap_free_bytes);
}

static void sample_own_cpu(struct rd_host *host, struct rd_host_sample *s)
{
    struct rusage usage;
    struct rlimit limit;
    uint64_t mono = clock_ns(CLOCK_MONOTONIC);
    getrusage(RUSAGE_SELF, &usage);
    uint64_t user = timeval_ns(usage.ru_utime);
    uint64_t system = timeval_ns(usage.ru_stime);
    s->cpu_user_s = (double)user / 1e9;
    s->cpu_system_s = (double)system / 1e9;
    s->cpu_ratio = NAN;
    if (host->mono_ns != 0 && mono > host->mono_ns) {
        s->cpu_ratio = (double)(user + system - host->own_cpu_ns) /
                       (double)(mono - host->mono_ns);
    }
    host->mono_ns = mono;
    host->own_cpu_ns = user + system;
    s->fds_limit =
        getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY
            ? (int64_t)limit.rlim_cur
            : -1;
    s->fds_open = count_fds(host);
}

static double share(uint64_t now, uint64_t before, uint64_t total)
{
    /* iowait may go back, proc(5). */
    return now > before ? (double)(now - before) / (double)total : 0;
}

static void sample_cpu(struct rd_host *host, struct rd_host_sample *s)
{
    struct rd_proc_cpu now = {0, 0, 0, 0, 0};
    const struct rd_proc_cpu *last = &host->cpu;
    s->busy_ratio = s->user_ratio = s->system_ratio = NAN;
    s->iowait_ratio = s->steal_ratio = NAN;
    if (rd_proc_cpu(read_file(host, RD_HOST_STAT), &now) == 0 &&
        last->total != 0 && now.total > last->total) {
        uint64_t total = now.total - last->total;
        s->user_ratio = share(now.user, last->user, total);
        s->system_ratio = share(now.system, last->system, total);
        s->iowait_ratio = share(now.iowait, last->iowait, total);
        s->steal_ratio = share(now.steal, last->steal, total);
        s->busy_ratio = s->user_ratio + s->system_ratio + s->steal_ratio;
    }
    host->cpu = now;
}

static void sample_network(struct rd_host *host, struct rd_host_sample *s)
{
    uint64_t received = 0, sent = 0;
    off_t offset = 0;
    for (;;) { /* a host with many interfaces needs several buffers full */
        long used =
            rd_proc_net_dev(read_at(host, host->fds[RD_HOST_NET_DEV], offset),
                            &received, &sent);
        if (used < 0) {
            break;
        }
        offset += used;
    }
    s->received_bytes = offset > 0 ? (int64_t)received : -1;
    s->sent_bytes = offset > 0 ? (int64_t)sent : -1;
    s->tcp_established = s->tcp_listen_overflows = -1;
    rd_proc_net_column(read_file(host, RD_HOST_NET_SNMP), "Tcp", "CurrEstab",
                       &s->tcp_established);
    rd_proc_net_column(read_file(host, RD_HOST_NET_NETSTAT), "TcpExt",
                       "ListenOverflows", &s->tcp_listen_overflows);
}

static double pressure(struct rd_host *host, enum rd_host_file file)
{
    double ratio = NAN;
    rd_proc_pressure(read_file(host, file), &ratio);
    return ratio;
}

static void sample_disk(struct rd_host_sample *s)
{
    struct statvfs fs;
    s->disk_total_bytes = s->disk_available_bytes = -1;
    s->disk_used_ratio = NAN;
    if (statvfs("/", &fs) < 0) {
        return;
    }
    uint64_t used = fs.f_blocks - fs.f_bfree;
    uint64_t usable = used + fs.f_bavail; /* without root's reserve, as df */
    s->disk_total_bytes = (int64_t)(fs.f_blocks * fs.f_frsize);
    s->disk_available_bytes = (int64_t)(fs.f_bavail * fs.f_frsize);
    if (usable > 0) {
        s->disk_used_ratio = (double)used / (double)usable;
    }
}

static void sample_cgroup(struct rd_host *host, struct rd_host_sample *s)
{
    s->cgroup_limit_bytes = s->cgroup_used_bytes = -1;
    s->cgroup_cpus = NAN;
    if (host->cgroup[0] != '\0') {
        rd_proc_cgroup_bytes(read_path(host, host->cgroup, "/memory.max"),
                             &s->cgroup_limit_bytes);
        rd_proc_cgroup_bytes(read_path(host, host->cgroup, "/memory.current"),
                             &s->cgroup_used_bytes);
        rd_proc_cgroup_cpus(read_path(host, host->cgroup, "/cpu.max"),
                            &s->cgroup_cpus);
    }
}

static void sample_cpus(struct rd_host_sample *s)
{
    cpu_set_t set;
    s->cpus = sysconf(_SC_NPROCESSORS_ONLN);
    s->cpus_usable = s->cpus;
    if (sched_getaffinity(0, sizeof set, &set) == 0) {
        s->cpus_usable = CPU_COUNT(&set);
    }
    if (!isnan(s->cgroup_cpus) && s->cgroup_cpus < (double)s->cpus_usable) {
        s->cpus_usable = (int64_t)s->cgroup_cpus;
        if ((double)s->cpus_usable < s->cgroup_cpus) {
            s->cpus_usable++;
        }
    }
}

static void copy_text(char *to, size_t size, const char *from)
{
    snprintf(to, size, "%s", from);
}

static void sample_names(struct rd_host_sample *s)
{
    struct utsname name;
    if (uname(&name) == 0) {
        copy_text(s->hostname, sizeof s->hostname, name.nodename);
        copy_text(s->kernel, sizeof s->kernel, name.release);
        copy_text(s->arch, sizeof s->arch, name.machine);
    }
}

void rd_host_sample(struct rd_host *host)
{
    struct rd_host_sample *s = &host->sample;
    sample_memory(host, s);
    sample_own_cpu(host, s);
    sample_cpu(host, s);
    sample_network(host, s);
    s->load[0] = s->load[1] = s->load[2] = NAN;
    s->running = -1;
    rd_proc_loadavg(read_file(host, RD_HOST_LOADAVG), s->load, &s->running);
    s->pressure_cpu = pressure(host, RD_HOST_PRESSURE_CPU);
    s->pressure_memory = pressure(host, RD_HOST_PRESSURE_MEMORY);
    s->pressure_io = pressure(host, RD_HOST_PRESSURE_IO);
    if (host->tick % SLOW_EVERY == 0) {
        sample_names(s);
        sample_disk(s);
        sample_cgroup(host, s);
        sample_cpus(s);
        s->processes = count_numbers(host->fds[RD_HOST_PROC_DIR]);
    }
    s->uptime_s = (int64_t)(clock_ns(CLOCK_BOOTTIME) / 1000000000u);
    s->sampled_unix_ms = (int64_t)(clock_ns(CLOCK_REALTIME) / 1000000u);
    host->tick++;
}

/* What cannot change while the process lives, or need not be followed. */
static void sample_once(struct rd_host *host, const char *root)
{
    struct rd_host_sample *s = &host->sample;
    char path[200];
    if (rd_proc_os_name(read_path(host, root, "/etc/os-release"), s->os,
                        sizeof s->os) < 0) {
        rd_proc_os_name(read_path(host, root, "/usr/lib/os-release"), s->os,
                        sizeof s->os);
    }
    if (rd_proc_cgroup(read_path(host, root, "/proc/self/cgroup"), path,
                       sizeof path) == 0) {
        int len = snprintf(host->cgroup, sizeof host->cgroup,
                           "%s/sys/fs/cgroup%s", root, path);
        if (len >= (int)sizeof host->cgroup) {
            host->cgroup[0] = '\0';
        }
    }
    /* The kernel's own btime: the wall clock less the time since boot, taken
     * once so that it does not tremble. */
    uint64_t boot_ns = clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_BOOTTIME);
    s->booted_unix_ms = (int64_t)((boot_ns + 500000000u) / 1000000000u) * 1000;
    s->fds_open = -1;
}

void rd_host_init(struct rd_host *host, const char *root)
{
    char path[256];
    memset(host, 0, sizeof *host);
    host->page_bytes = sysconf(_SC_PAGESIZE);
    for (int i = 0; i < RD_HOST_FILES_N; i++) {
        int len = snprintf(path, sizeof path, "%s%s", root, file_paths[i]);
        host->fds[i] =
            len < (int)sizeof path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    }
    sample_once(host, root);
    rd_host_sample(host);
}

void rd_host_fini(struct rd_host *host)
{
    for (int i = 0; i < RD_HOST_FILES_N; i++) {
        if (host->fds[i] >= 0) {
            close(host->fds[i]);
            host->fds[i] = -1;
        }
    }
}
