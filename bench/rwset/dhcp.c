// A parser of DHCP-like options: code, length, value, until 255.
#include <colt.h>

struct lease { unsigned address, router, mask; unsigned char type, n_servers; unsigned short mtu; };
static struct lease lease;
static unsigned n_options, n_unknown;

static int option(unsigned char code, const unsigned char *value, unsigned length) {
    n_options++;
    switch (code) {
    case 1:
        if (length != 2)
            return -1;
        lease.mask = value[0] << 8 | value[1];
        return 0;
    case 3:
        if (length < 1)
            return -1;
        lease.router = value[0];
        return 0;
    case 6:
        lease.n_servers = (unsigned char)length;
        return 0;
    case 26:
        if (length != 2)
            return -2;
        lease.mtu = (unsigned short)(value[0] << 8 | value[1]);
        return lease.mtu < 68 ? -3 : 0;
    case 53:
        if (length != 1)
            return -1;
        if (value[0] < 1 || value[0] > 8)
            return -4;
        lease.type = value[0];
        return 0;
    default:
        n_unknown++;
        return 0;
    }
}

int main(void) {
    unsigned char packet[12];
    colt_input(packet, sizeof packet, "packet");
    unsigned at = 0;
    while (at < sizeof packet) {
        unsigned char code = packet[at++];
        if (code == 0)
            continue;
        if (code == 255)
            break;
        if (at == sizeof packet)
            return 2;
        unsigned length = packet[at++];
        if (length > 3 || at + length > sizeof packet)
            return 3;
        unsigned char value[3] = { 0 };
        for (unsigned i = 0; i < length; i++)
            value[i] = packet[at++];
        if (option(code, value, length) < 0)
            return 4;
    }
    if (lease.type == 0)
        return 5;
    return 0;
}
