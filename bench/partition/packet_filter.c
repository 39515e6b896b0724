// A packet filter in the spirit of an intrusion detector: headers are decoded, checked field by field, matched against
// rules, and every field that looks wrong raises an alert of its own. FIELDS_ONLY leaves the payload out, for comparison
// with plain exploration.
#include <assert.h>
#include <colt.h>
#include <stdint.h>

#ifndef PAYLOAD
#define PAYLOAD 16
#endif

enum {
    ETHERTYPE_IP = 0x0800,
    PROTOCOL_ICMP = 1,
    PROTOCOL_TCP = 6,
    PROTOCOL_UDP = 17,
};

struct ethernet {
    uint8_t destination[6], source[6];
    uint16_t type;
};

struct ip {
    uint8_t version, header_length, tos;
    uint16_t total_length, id;
    uint8_t flags;
    uint16_t fragment;
    uint8_t ttl, protocol;
    uint32_t source, destination;
};

struct udp {
    uint16_t source, destination, length;
};

struct packet {
    struct ethernet ethernet;
    struct ip ip;
    struct udp udp;
    uint8_t payload[PAYLOAD];
};

enum alert {
    ALERT_BROADCAST_SOURCE,
    ALERT_TOS,
    ALERT_ID_ZERO,
    ALERT_FRAGMENT,
    ALERT_TTL,
    ALERT_SOURCE_PRIVATE,
    ALERT_SOURCE_LOOPBACK,
    ALERT_DESTINATION_MULTICAST,
    ALERT_SOURCE_PORT,
    ALERT_DESTINATION_PORT,
    ALERT_SHELLCODE,
    N_ALERTS
};

struct statistics {
    uint32_t alerts[N_ALERTS];
    uint32_t by_class[4];
    uint32_t payload_class[PAYLOAD];
    uint32_t dropped;
};

static struct statistics statistics;

static void raise_alert(enum alert alert) {
    statistics.alerts[alert]++;
}

/* Which packets are ours at all. */
static int is_udp(const struct packet *p) {
    if (p->ethernet.type != ETHERTYPE_IP)
        return 0;
    if (p->ip.version != 4)
        return 0;
    if (p->ip.header_length < 5)
        return 0;
    if (p->ip.protocol != PROTOCOL_UDP)
        return 0;
    if (p->ip.total_length < 28)
        return 0;
    if (p->udp.length < 8)
        return 0;
    return 1;
}

static void check_ethernet(const struct ethernet *ethernet) {
    int all_ones = 1;
    for (int i = 0; i < 6; i++)
        all_ones &= ethernet->source[i] == 0xff;
    if (all_ones)
        raise_alert(ALERT_BROADCAST_SOURCE);
}

static void check_tos(uint8_t tos) {
    if (tos & 1)
        raise_alert(ALERT_TOS);
}

static void check_id(uint16_t id) {
    if (id == 0)
        raise_alert(ALERT_ID_ZERO);
}

static void check_fragment(uint8_t flags, uint16_t offset) {
    int more = flags & 1, dont = flags & 2;
    if (dont && offset != 0)
        raise_alert(ALERT_FRAGMENT);
    else if (more && offset > 8100)
        raise_alert(ALERT_FRAGMENT);
}

static void check_ttl(uint8_t ttl) {
    if (ttl == 0)
        raise_alert(ALERT_TTL);
    else if (ttl < 5)
        statistics.by_class[0]++;
    else if (ttl > 200)
        statistics.by_class[1]++;
}

static int is_private(uint32_t address) {
    if (address >> 24 == 10)
        return 1;
    if (address >> 20 == 0xac1)
        return 1;
    return address >> 16 == 0xc0a8;
}

static void check_source(uint32_t address) {
    if (address >> 24 == 127)
        raise_alert(ALERT_SOURCE_LOOPBACK);
    else if (is_private(address))
        raise_alert(ALERT_SOURCE_PRIVATE);
}

static void check_destination(uint32_t address) {
    if (address >> 28 == 0xe)
        raise_alert(ALERT_DESTINATION_MULTICAST);
    else if (address == 0xffffffff)
        statistics.by_class[2]++;
}

struct port_rule {
    uint16_t low, high;
    enum { PASS, WATCH, DENY } verdict;
};

static const struct port_rule source_rules[] = {
    {0, 0, DENY},
    {53, 53, PASS},
    {123, 123, PASS},
    {1900, 1900, WATCH},
};

static const struct port_rule destination_rules[] = {
    {0, 0, DENY},
    {53, 53, PASS},
    {69, 69, DENY},
    {161, 162, WATCH},
    {31337, 31337, DENY},
};

static int match(const struct port_rule *rules, int n_rules, uint16_t port) {
    for (int i = 0; i < n_rules; i++)
        if (port >= rules[i].low && port <= rules[i].high)
            return rules[i].verdict;
    return PASS;
}

static void check_source_port(uint16_t port) {
    int verdict = match(source_rules, sizeof source_rules / sizeof *source_rules, port);
    if (verdict == DENY)
        raise_alert(ALERT_SOURCE_PORT);
    else if (verdict == WATCH)
        statistics.by_class[3]++;
}

static void check_destination_port(uint16_t port) {
    int verdict = match(destination_rules, sizeof destination_rules / sizeof *destination_rules, port);
    if (verdict == DENY)
        raise_alert(ALERT_DESTINATION_PORT);
    else if (verdict == WATCH)
        statistics.dropped++;
}

static void check_payload(const uint8_t *payload) {
    for (int i = 0; i < PAYLOAD; i++) {
        if (payload[i] == 0x90)
            statistics.payload_class[i] = 3;
        else if (payload[i] >= 0x80)
            statistics.payload_class[i] = 2;
        else if (payload[i] >= ' ')
            statistics.payload_class[i] = 1;
        assert(payload[i] != 0x90 || statistics.payload_class[i] == 3);
    }
}

int main(void) {
    struct packet p;
    colt_input(&p, sizeof p, "p");
    if (!is_udp(&p)) {
        statistics.dropped++;
        return 1;
    }
    check_ethernet(&p.ethernet);
    check_tos(p.ip.tos);
    check_id(p.ip.id);
    check_fragment(p.ip.flags, p.ip.fragment);
    check_ttl(p.ip.ttl);
    check_source(p.ip.source);
    check_destination(p.ip.destination);
    check_source_port(p.udp.source);
    check_destination_port(p.udp.destination);
    check_payload(p.payload);
    return 0;
}
