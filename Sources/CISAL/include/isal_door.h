#pragma once
#include <stddef.h>
#include <stdint.h>

/// CRC32C (Castagnoli) of `length` bytes at `bytes`, going on from `crc`; start with 0. Any length.
uint32_t firemount_crc32c(uint32_t crc, const void *bytes, size_t length);

/// A gzip stream's decompressor (isal's state is too large to import). Free it with firemount_gunzip_free.
struct firemount_gunzip_state;
struct firemount_gunzip_state *firemount_gunzip_new(void);
void firemount_gunzip_free(struct firemount_gunzip_state *state);

/// Decompresses from `input`, of which it says how much it took, into `output`. How many bytes it made, or -1 when the
/// input is not gzip. 0 with nothing taken means that the stream has ended.
ptrdiff_t firemount_gunzip(
    struct firemount_gunzip_state *state, const void *input, size_t input_length, size_t *taken, void *output,
    size_t output_length);
