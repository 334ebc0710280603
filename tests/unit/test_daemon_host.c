/* SPDX-License-Identifier: MIT */
/* The daemon's sampler: the parsers on texts, whole and cut; a host without
 * /proc gives null everywhere; the publication never shows a torn text. */
#include <check.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/host.h"
#include "daemon/proc.h"
#include "daemon/publish.h"
#include "daemon/status_json.h"
#include "support/suite.h"

static const char netstat[] = "TcpExtra: ListenOverflows\n"
                              "TcpExtra: 9\n"
                              "TcpExt: SyncookiesSent ListenOverflows ListenX\n"
                              "TcpExt: 0 17 3\n"
                              "IpExt: InNoRoutes\n"
                              "IpExt: 5\n";

static const char net_dev[] =
    "Inter-|   Receive                         |  Transmit\n"
    " face |bytes    packets errs drop fifo    |bytes packets\n"
    "    lo: 3267 29 0 0 0 0 0 0 3267 29 0 0 0 0 0 0\n"
    "  eth0:26782496 1039 0 0 0 0 0 0 66722 897 0 0 0 0 0 0\n"
    "eth0.1: 4 1 0 0 0 0 0 0 8 1 0 0 0 0 0 0\n";

START_TEST(test_loadavg)
{
    double load[3] = {-1, -1, -1};
    int64_t running = -1;
    ck_assert_int_eq(
        rd_proc_loadavg("0.42 12.35 0.30 2/201 1234\n", load, &running), 0);
    ck_assert_double_eq(load[0], 0.42);
    ck_assert_double_eq(load[1], 12.35);
    ck_assert_double_eq(load[2], 0.30);
    ck_assert_int_eq(running, 2);
    ck_assert_int_eq(rd_proc_loadavg("", load, &running), -1);
    ck_assert_int_eq(rd_proc_loadavg("0.42 0.35 0.30 2", load, &running), -1);
    ck_assert_int_eq(rd_proc_loadavg("a b c 2/3", load, &running), -1);
    ck_assert_double_eq(load[0], 0.42);
}
END_TEST

START_TEST(test_cpu)
{
    struct rd_proc_cpu cpu;
    ck_assert_int_eq(
        rd_proc_cpu("cpu  10 1 20 100 5 2 3 4 6 7\ncpu0 1 1\n", &cpu), 0);
    ck_assert_uint_eq(cpu.user, 11);
    ck_assert_uint_eq(cpu.system, 25);
    ck_assert_uint_eq(cpu.iowait, 5);
    ck_assert_uint_eq(cpu.steal, 4);
    ck_assert_uint_eq(cpu.total, 145);
    ck_assert_int_eq(rd_proc_cpu("cpu  10 1 20\n", &cpu), -1);
    ck_assert_int_eq(rd_proc_cpu("cpu0 1 2 3 4 5 6 7 8\n", &cpu), -1);
    ck_assert_int_eq(rd_proc_cpu("", &cpu), -1);
}
END_TEST

START_TEST(test_field)
{
    static const char text[] = "MemTotal:    8123 kB\n"
                               "MemTotalX:   1 kB\n"
                               "Hugepages:   7\n"
                               "Odd:         7 MB\n"
                               "Cut: 12";
    int64_t value = -1;
    ck_assert_int_eq(rd_proc_field(text, "MemTotal", &value), 0);
    ck_assert_int_eq(value, 8123 * 1024);
    ck_assert_int_eq(rd_proc_field(text, "Hugepages", &value), 0);
    ck_assert_int_eq(value, 7);
    ck_assert_int_eq(rd_proc_field(text, "Odd", &value), -1);
    ck_assert_int_eq(rd_proc_field(text, "Cut", &value), -1);
    ck_assert_int_eq(rd_proc_field(text, "Mem", &value), -1);
    ck_assert_int_eq(rd_proc_field("", "Mem", &value), -1);
    ck_assert_int_eq(value, 7);
}
END_TEST

START_TEST(test_statm)
{
    int64_t size = -1, rss = -1;
    ck_assert_int_eq(rd_proc_statm("3070 1536 900 5 0 200 0\n", &size, &rss),
                     0);
    ck_assert_int_eq(size, 3070);
    ck_assert_int_eq(rss, 1536);
    ck_assert_int_eq(rd_proc_statm("3070 15", &size, &rss), -1);
}
END_TEST

START_TEST(test_net_dev)
{
    uint64_t received = 0, sent = 0;
    ck_assert_int_eq(rd_proc_net_dev(net_dev, &received, &sent),
                     (long)strlen(net_dev));
    ck_assert_uint_eq(received, 26782500);
    ck_assert_uint_eq(sent, 66730);
}
END_TEST

/* A buffer that ends anywhere, then the rest from where it said. */
START_TEST(test_net_dev_in_two_pieces)
{
    char piece[sizeof net_dev];
    for (size_t cut = 0; cut < sizeof net_dev; cut++) {
        uint64_t received = 0, sent = 0;
        memcpy(piece, net_dev, cut);
        piece[cut] = '\0';
        long used = rd_proc_net_dev(piece, &received, &sent);
        if (used < 0) {
            used = 0;
        }
        ck_assert_int_le(used, (long)cut);
        rd_proc_net_dev(net_dev + used, &received, &sent);
        ck_assert_uint_eq(received, 26782500);
        ck_assert_uint_eq(sent, 66730);
    }
}
END_TEST

START_TEST(test_net_column)
{
    int64_t value = -1;
    ck_assert_int_eq(
        rd_proc_net_column(netstat, "TcpExt", "ListenOverflows", &value), 0);
    ck_assert_int_eq(value, 17);
    ck_assert_int_eq(rd_proc_net_column(netstat, "TcpExt", "Listen", &value),
                     -1);
    ck_assert_int_eq(
        rd_proc_net_column(netstat, "Tcp", "ListenOverflows", &value), -1);
    ck_assert_int_eq(rd_proc_net_column("TcpExt: A B\n", "TcpExt", "B", &value),
                     -1);
    ck_assert_int_eq(
        rd_proc_net_column("TcpExt: A B\nTcpExt: 1", "TcpExt", "A", &value),
        -1);
    ck_assert_int_eq(
        rd_proc_net_column("TcpExt: A B\nTcpExt: 1\n", "TcpExt", "B", &value),
        -1);
    ck_assert_int_eq(value, 17);
}
END_TEST

START_TEST(test_net_column_cut_anywhere)
{
    char piece[sizeof netstat];
    int found = 0;
    for (size_t cut = 0; cut < sizeof netstat; cut++) {
        int64_t value = -1;
        memcpy(piece, netstat, cut);
        piece[cut] = '\0';
        if (rd_proc_net_column(piece, "TcpExt", "ListenOverflows", &value) ==
            0) {
            ck_assert_int_eq(value, 17);
            found++;
        }
    }
    ck_assert_int_gt(found, 0);
}
END_TEST

START_TEST(test_pressure)
{
    double ratio = -1;
    ck_assert_int_eq(
        rd_proc_pressure("some avg10=35.32 avg60=13.10 avg300=3.24 total=1\n",
                         &ratio),
        0);
    ck_assert_double_eq_tol(ratio, 0.3532, 1e-9);
    ck_assert_int_eq(rd_proc_pressure("full avg10=1.00 ", &ratio), -1);
    ck_assert_int_eq(rd_proc_pressure("some avg10=1.0", &ratio), -1);
}
END_TEST

START_TEST(test_cgroup)
{
    char path[16];
    int64_t bytes = 5;
    double cpus = 5;
    ck_assert_int_eq(
        rd_proc_cgroup("4:memory:/x\n0::/a/b.slice\n", path, sizeof path), 0);
    ck_assert_str_eq(path, "/a/b.slice");
    ck_assert_int_eq(rd_proc_cgroup("4:memory:/x\n", path, sizeof path), -1);
    ck_assert_int_eq(
        rd_proc_cgroup("0::/longer/than/sixteen\n", path, sizeof path), -1);
    ck_assert_int_eq(rd_proc_cgroup_bytes("1048576\n", &bytes), 0);
    ck_assert_int_eq(bytes, 1048576);
    ck_assert_int_eq(rd_proc_cgroup_bytes("", &bytes), -1);
    ck_assert_int_eq(bytes, 1048576);
    ck_assert_int_eq(rd_proc_cgroup_bytes("max\n", &bytes), 0);
    ck_assert_int_eq(bytes, -1);
    ck_assert_int_eq(rd_proc_cgroup_cpus("150000 100000\n", &cpus), 0);
    ck_assert_double_eq(cpus, 1.5);
    ck_assert_int_eq(rd_proc_cgroup_cpus("1 0\n", &cpus), -1);
    ck_assert_int_eq(rd_proc_cgroup_cpus("max 100000\n", &cpus), 0);
    ck_assert(isnan(cpus));
}
END_TEST

START_TEST(test_os_name)
{
    char name[32];
    ck_assert_int_eq(rd_proc_os_name("ID=debian\nPRETTY_NAME=\"Debian 12\"\n",
                                     name, sizeof name),
                     0);
    ck_assert_str_eq(name, "Debian 12");
    ck_assert_int_eq(rd_proc_os_name("PRETTY_NAME=Tiny", name, sizeof name), 0);
    ck_assert_str_eq(name, "Tiny");
    ck_assert_int_eq(rd_proc_os_name("PRETTY_NAME=\"\"\n", name, sizeof name),
                     -1);
    ck_assert_int_eq(rd_proc_os_name("NAME=x\n", name, sizeof name), -1);
}
END_TEST

/* 1 if fragment number `index` of `text` has `part`. */
static int fragment_has(const char *text, int index, const char *part)
{
    while (index-- > 0) {
        text += strlen(text) + 1;
    }
    return strstr(text, part) != NULL;
}

START_TEST(test_no_proc_gives_null)
{
    static struct rd_host host;
    char text[RD_PUBLISH_MAX_BYTES];
    rd_host_init(&host, "/nonexistent");
    const struct rd_host_sample *s = &host.sample;
    ck_assert_int_eq(s->rss_bytes, -1);
    ck_assert_int_eq(s->memory_total_bytes, -1);
    ck_assert_int_eq(s->tcp_established, -1);
    ck_assert_int_eq(s->received_bytes, -1);
    ck_assert_int_eq(s->fds_open, -1);
    ck_assert(isnan(s->load[0]));
    ck_assert(isnan(s->pressure_io));
    ck_assert_int_gt(rd_status_json_sample(s, text, sizeof text), 0);
    ck_assert(fragment_has(text, 0,
                           "\"rss_bytes\":null,\"rss_peak_bytes\":null,"
                           "\"virtual_bytes\":null"));
    ck_assert(fragment_has(text, 1, "\"fds\":{\"open\":null,"));
    ck_assert(fragment_has(text, 2, "\"os\":null"));
    ck_assert(fragment_has(text, 2, "\"load\":null"));
    ck_assert(fragment_has(text, 2, "\"received_bytes\":null"));
    ck_assert(fragment_has(text, 2, "\"io_some_ratio\":null"));
    ck_assert(fragment_has(text, 2, "\"cpu_limit\":null"));
    rd_host_fini(&host);
}
END_TEST

START_TEST(test_this_host)
{
    static struct rd_host host;
    char text[RD_PUBLISH_MAX_BYTES];
    rd_host_init(&host, "");
    const struct rd_host_sample *s = &host.sample;
    ck_assert(isnan(s->busy_ratio));
    ck_assert(isnan(s->cpu_ratio));
    int pipe_fds[2];
    int64_t before = s->fds_open;
    ck_assert_int_eq(pipe(pipe_fds), 0);
    rd_host_sample(&host);
    ck_assert_int_eq(s->fds_open, before + 2);
    ck_assert(!isnan(s->cpu_ratio));
    ck_assert_int_gt(s->rss_bytes, 0);
    ck_assert_int_ge(s->rss_peak_bytes, s->rss_anon_bytes);
    ck_assert_int_gt(s->virtual_bytes, s->rss_bytes);
    ck_assert_int_gt(s->memory_total_bytes, s->memory_available_bytes);
    ck_assert_int_ge(s->cpus_usable, 1);
    ck_assert_int_ge(s->processes, 1);
    ck_assert_int_eq(s->booted_unix_ms % 1000, 0);
    ck_assert_int_gt(rd_status_json_sample(s, text, sizeof text), 0);
    /* Too small a buffer is an error, never a cut document. */
    ck_assert_int_lt(rd_status_json_sample(s, text, 100), 0);
    close(pipe_fds[0]);
    close(pipe_fds[1]);
    rd_host_fini(&host);
}
END_TEST

enum { WRITES = 50000 };

static struct rd_publish publish;

static void *write_texts(void *arg)
{
    atomic_int *done = arg;
    char text[512];
    for (int i = 0; i < WRITES; i++) {
        size_t len = 8 + (size_t)i % (sizeof text - 8);
        memset(text, 'a' + i % 26, len);
        rd_publish_write(&publish, text, len);
    }
    atomic_store(done, 1);
    return NULL;
}

START_TEST(test_publish_is_never_torn)
{
    atomic_int done = 0;
    pthread_t writer;
    char text[513];
    uint64_t generation = 0, last = 0;
    long reads = 0;
    ck_assert_int_eq(
        (int)rd_publish_read(&publish, text, sizeof text, &generation), -1);
    ck_assert_int_eq(pthread_create(&writer, NULL, write_texts, &done), 0);
    for (int finished = 0; !finished;) {
        finished = atomic_load(&done); /* one more look after the end */
        long len = rd_publish_read(&publish, text, sizeof text, &generation);
        if (len < 0) {
            continue;
        }
        reads++;
        ck_assert_uint_ge(generation, last);
        last = generation;
        int i = (int)(generation - 1);
        ck_assert_int_eq(len, 8 + i % 504);
        char expected[513];
        memset(expected, 'a' + i % 26, (size_t)len);
        expected[len] = '\0';
        ck_assert_str_eq(text, expected);
    }
    pthread_join(writer, NULL);
    ck_assert_uint_eq(last, WRITES);
    ck_assert_int_gt(reads, 0);
}
END_TEST

START_TEST(test_publish_bounds)
{
    static struct rd_publish p;
    static char big[RD_PUBLISH_MAX_BYTES + 8];
    static char back[RD_PUBLISH_MAX_BYTES + 1];
    uint64_t generation = 0;
    memset(big, 'x', sizeof big);
    rd_publish_write(&p, big, sizeof big);
    ck_assert_int_eq((int)rd_publish_read(&p, back, sizeof back, &generation),
                     RD_PUBLISH_MAX_BYTES);
    ck_assert_int_eq(
        (int)rd_publish_read(&p, back, sizeof back - 1, &generation), -1);
    rd_publish_write(&p, "", 0);
    ck_assert_int_eq((int)rd_publish_read(&p, back, sizeof back, &generation),
                     0);
    ck_assert_str_eq(back, "");
    ck_assert_uint_eq(generation, 2);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("daemon_host");
    TCase *t = tcase_create("proc");
    tcase_add_test(t, test_loadavg);
    tcase_add_test(t, test_cpu);
    tcase_add_test(t, test_field);
    tcase_add_test(t, test_statm);
    tcase_add_test(t, test_net_dev);
    tcase_add_test(t, test_net_dev_in_two_pieces);
    tcase_add_test(t, test_net_column);
    tcase_add_test(t, test_net_column_cut_anywhere);
    tcase_add_test(t, test_pressure);
    tcase_add_test(t, test_cgroup);
    tcase_add_test(t, test_os_name);
    suite_add_tcase(s, t);
    t = tcase_create("host");
    tcase_add_test(t, test_no_proc_gives_null);
    tcase_add_test(t, test_this_host);
    suite_add_tcase(s, t);
    t = tcase_create("publish");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, test_publish_is_never_torn);
    tcase_add_test(t, test_publish_bounds);
    suite_add_tcase(s, t);
    return suite_run(s);
}
