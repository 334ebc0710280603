/* SPDX-License-Identifier: MIT */
/* Sets of addresses and networks.
 *
 * Two networks are either disjoint or one is part of the other, so a set is
 * sorted by first address and what is part of its predecessor left out: then
 * the only network that may contain an address is the last one that does not
 * begin behind it, which a binary search finds. An address is two numbers of 64
 * bits, IPv4 in the upper half of the first.
 *
 * IPv4 and IPv6 are apart: "::/0" has no IPv4 address, though the kernel may
 * show one as ::ffff:192.0.2.1, which is stored as IPv4 on either side.
 * Thread: see plugins.h. */
#include "plugins/networks.h"

#include <arpa/inet.h>
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/slice.h"
#include "codec/field.h"
#include "http/message.h"

#define NETWORKS_MAX 4096u
/* An address, a slash, three digits. */
#define TEXT_MAX (INET6_ADDRSTRLEN + 4)

struct network {
    uint64_t address[2], mask[2];
    uint8_t family; /* enum rd_family; not RD_UNIX */
};

struct restd_networks {
    uint8_t unix_sockets; /* their peers are in the set */
    unsigned n;
    struct network list[];
};

static void network_locate(struct network *network, const struct rd_addr *addr)
{
    memcpy(network->address, addr->ip, sizeof(network->address));
    network->address[0] = be64toh(network->address[0]);
    network->address[1] = be64toh(network->address[1]);
    network->family = addr->family;
}

static int network_holds(const struct network *network,
                         const struct network *other)
{
    return network->family == other->family &&
           (other->address[0] & network->mask[0]) == network->address[0] &&
           (other->address[1] & network->mask[1]) == network->address[1];
}

/* By first address; of those with the same the larger network first. */
static int network_compare(const void *left, const void *right)
{
    const struct network *a = left;
    const struct network *b = right;
    const uint64_t keys[][2] = {{a->family, b->family},
                                {a->address[0], b->address[0]},
                                {a->address[1], b->address[1]},
                                {a->mask[0], b->mask[0]},
                                {a->mask[1], b->mask[1]}};

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        if (keys[i][0] != keys[i][1]) {
            return keys[i][0] < keys[i][1] ? -1 : 1;
        }
    }
    return 0;
}

int rd_networks_contains(const struct restd_networks *networks,
                         const struct rd_addr *peer)
{
    struct network key = {.mask = {UINT64_MAX, UINT64_MAX}};
    unsigned low = 0; /* all before do not begin behind the address */
    unsigned high = networks->n;

    if (peer->family == RD_UNIX) {
        return networks->unix_sockets;
    }
    network_locate(&key, peer);
    while (low < high) {
        unsigned middle = (low + high) / 2;
        if (network_compare(&networks->list[middle], &key) <= 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low > 0 && network_holds(&networks->list[low - 1], &key);
}

int restd_networks_contains(const struct restd_networks *networks,
                            const struct restd_request *request)
{
    return rd_networks_contains(networks, &request->conn->peer);
}

/* --- from text ------------------------------------------------------------- */

static int no_network(struct restd_slice text, struct restd_error *error)
{
    return rd_error(error, RESTD_EINVAL,
                    "\"%.*s\" is no address (192.0.2.1, 2001:db8::1), no "
                    "network (192.0.2.0/24, 2001:db8::/32) and not \"unix\"",
                    (int)text.len, text.data);
}

/* Bits of the prefix, or -1. */
static int parse_prefix(const char *text, unsigned max)
{
    unsigned value = 0;
    size_t len = strlen(text);

    if (len == 0 || len > 3 || (len > 1 && text[0] == '0')) {
        return -1;
    }
    for (; *text; text++) {
        if (*text < '0' || *text > '9') {
            return -1;
        }
        value = value * 10 + (unsigned)(*text - '0');
    }
    return value <= max ? (int)value : -1;
}

/* Address and length of the prefix; of a mapped IPv4 address both as IPv4's. */
static int parse(const char *text, const char *prefix, struct rd_addr *addr,
                 unsigned *bits)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};
    unsigned written = 32; /* bits of the address as it is written */

    if (inet_pton(AF_INET, text, &v4.sin_addr) == 1) {
        rd_addr_from_sockaddr(addr, (struct sockaddr *)&v4);
    } else if (inet_pton(AF_INET6, text, &v6.sin6_addr) == 1) {
        rd_addr_from_sockaddr(addr, (struct sockaddr *)&v6);
        written = 128;
    } else {
        return -1;
    }
    int length = prefix ? parse_prefix(prefix, written) : (int)written;
    int unmapped = addr->family == RD_IPV4 ? (int)written - 32 : 0;
    if (length < unmapped) {
        return -1;
    }
    *bits = (unsigned)(length - unmapped);
    return 0;
}

/* What was meant by a network with bits behind its prefix. */
static int too_many_bits(struct restd_slice text, struct rd_addr *addr,
                         const struct network *network, unsigned bits,
                         struct restd_error *error)
{
    char meant[INET6_ADDRSTRLEN];
    const uint64_t first[2] = {htobe64(network->address[0] & network->mask[0]),
                               htobe64(network->address[1] & network->mask[1])};

    memcpy(addr->ip, first, sizeof(first));
    if (rd_addr_format_host(addr, meant, sizeof(meant)) < 0) {
        return no_network(text, error);
    }
    return rd_error(error, RESTD_EINVAL,
                    "\"%.*s\" has bits behind its prefix: is %s/%u meant?",
                    (int)text.len, text.data, meant, bits);
}

static uint64_t mask_of(unsigned bits)
{
    return bits < 64 ? ~(UINT64_MAX >> bits) : UINT64_MAX;
}

static int network_parse(struct network *network, struct restd_slice text,
                         struct restd_error *error)
{
    char buf[TEXT_MAX + 1];
    struct rd_addr addr;
    unsigned bits;

    if (text.len >= sizeof(buf)) {
        return no_network(text, error);
    }
    memcpy(buf, text.data, text.len);
    buf[text.len] = '\0';
    char *slash = strchr(buf, '/');
    if (slash) {
        *slash++ = '\0';
    }
    if (parse(buf, slash, &addr, &bits) != 0) {
        return no_network(text, error);
    }
    network_locate(network, &addr);
    network->mask[0] = mask_of(bits);
    network->mask[1] = mask_of(bits > 64 ? bits - 64 : 0);
    return network_holds(network, network)
               ? 0
               : too_many_bits(text, &addr, network, bits, error);
}

static void sort(struct restd_networks *networks)
{
    unsigned n = 0;

    qsort(networks->list, networks->n, sizeof(networks->list[0]),
          network_compare);
    for (unsigned i = 0; i < networks->n; i++) {
        if (n == 0 ||
            !network_holds(&networks->list[n - 1], &networks->list[i])) {
            networks->list[n++] = networks->list[i];
        }
    }
    networks->n = n;
}

static int fill(struct restd_networks *networks, struct restd_slice rest,
                struct restd_error *error)
{
    struct restd_slice text;

    while (rd_field_list_next(&rest, &text)) {
        if (restd_slice_is(text, "unix")) {
            networks->unix_sockets = 1;
            continue;
        }
        int rc = network_parse(&networks->list[networks->n], text, error);
        if (rc != 0) {
            return rc;
        }
        networks->n++;
    }
    sort(networks);
    return 0;
}

int restd_networks_new(const char *text, struct restd_networks **networks,
                       struct restd_error *error)
{
    struct restd_slice all = rd_slice_str(text ? text : "");
    struct restd_slice rest = all;
    struct restd_slice one;
    size_t n = 0;

    while (rd_field_list_next(&rest, &one)) {
        n++;
    }
    if (n == 0) {
        return rd_error(error, RESTD_EINVAL, "a list of networks without any");
    }
    if (n > NETWORKS_MAX) {
        return rd_error(error, RESTD_ELIMIT, "more than %u networks",
                        NETWORKS_MAX);
    }
    struct restd_networks *made =
        rd_mem_alloc(sizeof(*made) + n * sizeof(made->list[0]));
    if (!made) {
        return rd_error(error, RESTD_ENOMEM, "out of memory");
    }
    int rc = fill(made, all, error);
    if (rc != 0) {
        rd_mem_free(made);
        return rc;
    }
    *networks = made;
    return 0;
}

void restd_networks_free(struct restd_networks *networks)
{
    rd_mem_free(networks);
}
