#pragma once
#include <stddef.h>
#include <stdint.h>

/// CRC32C (Castagnoli) of `length` bytes at `bytes`, going on from `crc`; start with 0. Any length.
uint32_t firemount_crc32c(uint32_t crc, const void *bytes, size_t length);
