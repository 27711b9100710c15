#include "isal_door.h"

#include <isa-l.h>
#include <stdlib.h>

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

struct firemount_gunzip_state {
    struct inflate_state inflate;
};

struct firemount_gunzip_state *firemount_gunzip_new(void) {
    struct firemount_gunzip_state *state = malloc(sizeof *state);
    if (state == NULL) abort();
    isal_inflate_init(&state->inflate);
    state->inflate.crc_flag = ISAL_GZIP;
    return state;
}

void firemount_gunzip_free(struct firemount_gunzip_state *state) { free(state); }

ptrdiff_t firemount_gunzip(
    struct firemount_gunzip_state *state, const void *input, size_t input_length, size_t *taken, void *output,
    size_t output_length) {
    struct inflate_state *inflate = &state->inflate;
    inflate->next_in = (uint8_t *)input;
    inflate->avail_in = (uint32_t)input_length;
    inflate->next_out = output;
    inflate->avail_out = (uint32_t)output_length;
    *taken = 0;
    if (inflate->block_state == ISAL_BLOCK_FINISH) return 0;
    int status = isal_inflate(inflate);
    *taken = input_length - inflate->avail_in;
    if (status != ISAL_DECOMP_OK && status != ISAL_END_INPUT) return -1;
    return (ptrdiff_t)(output_length - inflate->avail_out);
}
