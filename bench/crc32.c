// Which 8 bytes have this CRC-32?
#include <colt.h>
#include <stdint.h>

int main(void) {
    uint8_t data[8];
    colt_input(data, sizeof data, "data");
    uint32_t crc = 0xffffffffu;
    for (int i = 0; i < 8; i++) {
        crc ^= data[i];
        for (int bit = 0; bit < 8; bit++)
            crc = (crc >> 1) ^ (0xedb88320u & -(crc & 1));
    }
    if (~crc == 0x12345678u)
        return 1;
    return 0;
}
