#include "formats/trace/wire.h"

#include <zlib.h>

uint32_t gt_crc(const void *bytes, uint64_t n) { return (uint32_t)crc32_z(0, bytes, n); }

uint32_t gt_crc_continue(uint32_t crc, const void *bytes, uint64_t n)
{
	return (uint32_t)crc32_z(crc, bytes, n);
}
