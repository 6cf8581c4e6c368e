/* What a wrapper is; gen_wrappers writes one line for each driver function:
 *
 *	WRAP(id, name, least argument mode that records something, (parameters), (arguments), words...)
 *
 * The words are the parameters as 64-bit values, for guest_args.c; they are put together only when that mode is on. Parameters
 * have the sizes and classes of the true prototypes, which is all that a calling convention looks at. */
#ifndef GT_GUEST_WRAP_H
#define GT_GUEST_WRAP_H
#include "collect/guest/guest.h"

struct gt_64 { uint64_t words[8]; };	/* CUipcMemHandle and the like, passed by value */

#define P(x) (uint64_t)(uintptr_t)(x)	/* pointer */
#define N(x) (uint64_t)(x)		/* number */
#define S(x) (uint64_t)(uintptr_t)&(x)	/* struct */
#define F(x) gt_float_word(x)
static inline uint64_t gt_float_word(double d) { uint64_t w; memcpy(&w, &d, sizeof(w)); return w; }

#define GT_REAL(id, params)									\
	int32_t (*real) params = (int32_t (*) params)gt_real[id];				\
	struct gt_call c;									\
	int32_t ret;										\
												\
	if (gt_unlikely(!real) && !(real = (int32_t (*) params)gt_resolve(id)))			\
		return GT_NO_DRIVER

#define WRAP(id, name, mode, params, arguments, ...)						\
GT_EXPORT int32_t name params									\
{												\
	GT_REAL(id, params);									\
	if (gt_unlikely(!gt_enter(&c, id)))							\
		return real arguments;								\
	if (gt_unlikely(c.t->args >= mode)) {							\
		const uint64_t words[] = { __VA_ARGS__ };					\
												\
		gt_start(&c, gt_open_args(&c, words));						\
		ret = real arguments;								\
		gt_stop(&c);									\
		gt_record_args(&c, ret, words);							\
		return ret;									\
	}											\
	gt_start(&c, 0);									\
	ret = real arguments;									\
	gt_stop(&c);										\
	gt_record(&c, ret);									\
	return ret;										\
}

/* With something to be done when the function has returned, recorded or not. */
#define WRAP_THEN(id, name, mode, params, arguments, after, ...)				\
GT_EXPORT int32_t name params									\
{												\
	const uint64_t words[] = { __VA_ARGS__ };						\
	GT_REAL(id, params);									\
	if (!gt_enter(&c, id)) {								\
		ret = real arguments;								\
		after(ret, words, __builtin_return_address(0));					\
		return ret;									\
	}											\
	gt_start(&c, c.t->args >= mode ? gt_open_args(&c, words) : 0);				\
	ret = real arguments;									\
	gt_stop(&c);										\
	after(ret, words, __builtin_return_address(0));						\
	if (c.t->args >= mode)									\
		gt_record_args(&c, ret, words);							\
	else											\
		gt_record(&c, ret);								\
	return ret;										\
}
#endif
