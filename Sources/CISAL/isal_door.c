#include "isal_door.h"

#include <isa-l.h>

uint32_t firemount_crc32c(uint32_t crc, const void *bytes, size_t length) {
    // crc32_iscsi takes an int length and does neither the initial nor the final inversion.
    unsigned char *next = (unsigned char *)bytes;
    uint32_t running = ~crc;
    while (length > 0) {
        int piece = length > (1u << 30) ? (1 << 30) : (int)length;
        running = crc32_iscsi(next, piece, running);
        next += piece;
        length -= (size_t)piece;
    }
    return ~running;
}
