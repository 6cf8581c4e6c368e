/* The value of one field of a call's record, from the call's parameters and from memory that they
 * point to. The guest reads the memory in place, the eBPF way from copies of it.
 *
 * Inputs are read after the call, and only if its return code shows that the driver itself has read
 * them. Outputs are read after success. */
#ifndef GT_ARG_VALUES_H
#define GT_ARG_VALUES_H
#include <stdbool.h>
#include "collect/ipc/unaligned.h"
#include "formats/cuda/cuda_api.h"

/* A field of a function's record: see gt_api_fields. */
struct gt_arg {
	uint8_t param, how, role, key;
	uint16_t at;
};

static inline uint64_t gt_value_sext(uint32_t v) { return (uint64_t)(int64_t)(int32_t)v; }
static inline uint64_t gt_value_at_least_1(uint64_t v) { return v ? v : 1; }

enum {
	GT_RET_OUT_OF_MEMORY = 2,
	GT_RET_NOT_FOUND = 500,
	GT_RET_LAUNCH_ERRORS = 700,
	GT_RET_LAUNCH_ERRORS_END = 720
};

/* True: the driver has read its inputs, as it returns these codes only after that. */
static inline bool gt_inputs_were_read(int32_t ret)
{
	return !ret || ret == GT_RET_OUT_OF_MEMORY || ret == GT_RET_NOT_FOUND ||
		(ret >= GT_RET_LAUNCH_ERRORS && ret < GT_RET_LAUNCH_ERRORS_END);
}

/* CUmemorytype: 1 host, 2 device, 3 array, 4 unified */
static inline uint64_t gt_value_copy_end(const uint8_t *type)
{
	switch (gt_u32_at(type)) {
	case 1: return gt_u64_at(type + 8);
	case 2:
	case 4: return gt_u64_at(type + 16);
	case 3: return gt_u64_at(type + 24);
	}
	return 0;
}

static inline uint64_t gt_value_direction(uint32_t src, uint32_t dst)
{
	static const uint8_t directions[4] = { GT_DIR_HTOH, GT_DIR_HTOD, GT_DIR_DTOH, GT_DIR_DTOD };

	if (src - 1 > 2 || dst - 1 > 2)
		return GT_DIR_UNKNOWN;
	return directions[(src != 1) * 2 + (dst != 1)];
}

/* { CUarray_format, channels }: bytes of an element; 0: the format is compressed or planar and
 * has no such size */
static inline uint64_t gt_value_element_bytes(const uint8_t *format)
{
	uint64_t channels = gt_u32_at(format + 4);

	switch (gt_u32_at(format)) {
	case 0x01:
	case 0x08:
	case 0xc0 ... 0xc2:
	case 0xc6 ... 0xc8: return channels;
	case 0x02:
	case 0x09:
	case 0x10:
	case 0xc3 ... 0xc5:
	case 0xc9 ... 0xcb: return 2 * channels;
	case 0x03:
	case 0x0a:
	case 0x20: return 4 * channels;
	}
	return 0;
}

/* Sum of n sizes; 0 if n is greater than any program uses, as the array is then not an array of
 * sizes. */
static inline uint64_t gt_value_sum(const uint8_t *sizes, uint64_t n)
{
	uint64_t total = 0;

	for (uint64_t i = 0; n <= 1u << 20 && i < n; i++)
		total += gt_u64_at(sizes + 8 * i);
	return total;
}

static inline uint64_t gt_value_from_struct(const struct gt_arg *a, const uint8_t *p)
{
	const uint8_t *m = p + a->at;

	switch (a->how) {
	case GT_FROM_MEM64: return gt_u64_at(m);
	case GT_FROM_MEM32: return gt_u32_at(m);
	case GT_FROM_LOCATION:
		return gt_u32_at(m) == 1 ? gt_value_sext(gt_u32_at(m + 4)) : UINT64_MAX;
	case GT_FROM_END: return gt_value_copy_end(m);
	case GT_FROM_ENDS:
		return gt_value_direction(
			gt_u32_at(p + (a->at >> 8)), gt_u32_at(p + (a->at & 255)));
	case GT_FROM_RECT: return gt_u64_at(m) * gt_u64_at(m + 8);
	case GT_FROM_BOX: return gt_u64_at(m) * gt_u64_at(m + 8) * gt_u64_at(m + 16);
	case GT_FROM_ARRAY2:
		return gt_u64_at(m) * gt_value_at_least_1(gt_u64_at(m + 8)) *
			gt_value_element_bytes(m + 16);
	case GT_FROM_ARRAY3:
		return gt_u64_at(m) * gt_value_at_least_1(gt_u64_at(m + 8)) *
			gt_value_at_least_1(gt_u64_at(m + 16)) * gt_value_element_bytes(m + 24);
	}
	return 0;
}

/* The parameter whose memory gt_arg_value_of reads. */
static inline unsigned gt_arg_memory(const struct gt_arg *a)
{
	return a->how == GT_FROM_PITCH ? a->param - 2u : a->param;
}

/* p: the memory at parameter gt_arg_memory(a), or NULL. Not of a text. */
static inline uint64_t gt_arg_value_of(
	const struct gt_arg *a, const uint64_t *params, int32_t ret, const uint8_t *p)
{
	uint64_t word = params[a->param];

	switch (a->how) {
	case GT_FROM_WORD: return word;
	case GT_FROM_I32: return gt_value_sext((uint32_t)word);
	case GT_FROM_TIMES: return word * a->at;
	case GT_FROM_AREA: return word * params[a->param - 1] * a->at;
	case GT_FROM_PITCH: return !ret && p ? word * gt_u64_at(p) : 0;
	case GT_FROM_SUM:
		return p && gt_inputs_were_read(ret) ? gt_value_sum(p, params[a->param + 1]) : 0;
	case GT_FROM_OUT64: return p && !ret ? gt_u64_at(p) : 0;
	case GT_FROM_OUT32: return p && !ret ? gt_u32_at(p) : 0;
	case GT_FROM_OUT32S: return p && !ret ? gt_value_sext(gt_u32_at(p)) : 0;
	}
	return p && gt_inputs_were_read(ret) ? gt_value_from_struct(a, p) : 0;
}
#endif
