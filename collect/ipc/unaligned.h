/* Values at any address. */
#ifndef GT_UNALIGNED_H
#define GT_UNALIGNED_H
#include <stdint.h>
#include <string.h>

static inline uint16_t gt_u16_at(const void *p)
{
	uint16_t v;
	memcpy(&v, p, sizeof(v));
	return v;
}
static inline uint32_t gt_u32_at(const void *p)
{
	uint32_t v;
	memcpy(&v, p, sizeof(v));
	return v;
}
static inline uint64_t gt_u64_at(const void *p)
{
	uint64_t v;
	memcpy(&v, p, sizeof(v));
	return v;
}
#endif
