/* Macros that a wrapper consists of. gen_wrappers writes one line for each driver function:
 *
 *	WRAP(id, name, least argument mode that records something, (parameters), (arguments),
 *	     words...)
 *
 * or one of its variants: PLAIN and KEYED, which have a fast path (guest_fast_path.c), and
 * WRAP_THEN. The words are the parameters as 64-bit values, for guest_args.c; they are computed
 * only in an argument mode that needs them. Parameters have the sizes and classes of the real
 * prototypes, which is all that a calling convention depends on. */
#ifndef GT_GUEST_WRAP_H
#define GT_GUEST_WRAP_H
#include "collect/guest/core/guest_args.h"
#include "collect/guest/core/guest_fast_path.h"
#include "collect/guest/core/guest_hooks.h"
#include "collect/guest/core/guest_resolve.h"

struct gt_64 {
	uint64_t words[8];
}; /* CUipcMemHandle and the like, passed by value */

#define P(x) (uint64_t)(uintptr_t)(x)        /* pointer */
#define N(x) (uint64_t)(x)                   /* number */
#define I(x) (uint64_t)(int64_t)(int32_t)(x) /* a signed number of 32 bits */
#define S(x) (uint64_t)(uintptr_t) & (x)     /* struct */
#define F(x) gt_float_word(x)
static inline uint64_t gt_float_word(double d)
{
	uint64_t w;
	memcpy(&w, &d, sizeof(w));
	return w;
}

#define GT_REAL(id, params)                                                                        \
	int32_t(*real) params = gt_real[id];                                                       \
	struct gt_call c;                                                                          \
	int32_t ret;                                                                               \
                                                                                                   \
	if (gt_unlikely(!real) && !(real = gt_resolve_function(id)))                               \
	return GT_NO_DRIVER

/* The general wrapper. */
#define GENERAL(id, mode, params, arguments, ...)                                                  \
	{                                                                                          \
		GT_REAL(id, params);                                                               \
		if (gt_unlikely(!gt_call_enter(&c, id)))                                           \
			return real arguments;                                                     \
		if (mode != GT_ARGS_KEY || c.t->args == GT_ARGS_KEY)                               \
			gt_fast_path_enable(c.t, id, (void *)real);                                \
		if (c.t->args >= mode) {                                                           \
			const uint64_t words[] = { __VA_ARGS__ };                                  \
                                                                                                   \
			gt_call_start(&c, gt_call_open_args(&c, words));                           \
			ret = real arguments;                                                      \
			gt_call_stop(&c);                                                          \
			gt_call_record_args(&c, ret, words);                                       \
			return ret;                                                                \
		}                                                                                  \
		gt_call_start(&c, 0);                                                              \
		ret = real arguments;                                                              \
		gt_call_stop(&c);                                                                  \
		gt_call_record(&c, ret);                                                           \
		return ret;                                                                        \
	}
/* The same for a function that makes a GPU work: the call may be put between two CUDA events
 * (guest_event_timing.c). While that is so, the fast path is not enabled for these functions. */
#define WORK(id, mode, params, arguments, ...)                                                     \
	{                                                                                          \
		const uint64_t words[] = { __VA_ARGS__ };                                          \
		struct gt_event_pair *bracket = NULL;                                              \
		GT_REAL(id, params);                                                               \
		if (gt_unlikely(!gt_call_enter(&c, id)))                                           \
			return real arguments;                                                     \
		if (gt_unlikely(gt_event_pairs_on))                                                \
			bracket = gt_event_pair_begin(id, words);                                  \
		else if (mode != GT_ARGS_KEY || c.t->args == GT_ARGS_KEY)                          \
			gt_fast_path_enable(c.t, id, (void *)real);                                \
		gt_call_start(&c, c.t->args >= mode ? gt_call_open_args(&c, words) : 0);           \
		ret = real arguments;                                                              \
		gt_call_stop(&c);                                                                  \
		if (c.t->args >= mode)                                                             \
			gt_call_record_args(&c, ret, words);                                       \
		else                                                                               \
			gt_call_record(&c, ret);                                                   \
		if (gt_unlikely(bracket))                                                          \
			gt_event_pair_end(bracket, &c, ret, words);                                \
		return ret;                                                                        \
	}
#define WRAP(id, name, mode, params, arguments, ...)                                               \
	GT_EXPORT int32_t name params GENERAL(id, mode, params, arguments, __VA_ARGS__)
#define WRAP_WORK(id, name, mode, params, arguments, ...)                                          \
	GT_EXPORT int32_t name params WORK(id, mode, params, arguments, __VA_ARGS__)
/* The typed wrapper behind a fast path. */
#define TYPED(id, name, mode, params, arguments, ...)                                              \
	static __attribute__((noinline)) int32_t name##_typed params GENERAL(                      \
		id, mode, params, arguments, __VA_ARGS__)
#define TYPED_WORK(id, name, mode, params, arguments, ...)                                         \
	static __attribute__((noinline)) int32_t name##_typed params WORK(                         \
		id, mode, params, arguments, __VA_ARGS__)

/* Without key arguments, and with integers and pointers only: the exported function is a stub,
 * see guest_fast_path.c. */
#define PLAIN(id, name, mode, params, arguments, ...)                                              \
	TYPED(id, name, mode, params, arguments, __VA_ARGS__)                                      \
	PLAIN_STUB(id, name)
#if defined(GT_ARCH_PLAIN) && !defined(GT_HOSTED)
#define PLAIN_STUB(id, name)                                                                       \
	GT_EXPORT int32_t name(void);                                                              \
	GT_ARCH_PLAIN_STUB(id, name, gt_fast_call);
#else
#define PLAIN_STUB(id, name)                                                                       \
	GT_EXPORT int32_t name(                                                                    \
		uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3, uint64_t a4, uint64_t a5)      \
	{                                                                                          \
		return gt_fast_call(a0, a1, a2, a3, a4, a5, id);                                   \
	}
#endif

/* With key arguments that are values: key is the list of their words, func as in struct
 * gt_keyed_call. */
#define LIST(...)                                                                                  \
	{                                                                                          \
		__VA_ARGS__                                                                        \
	}
#define KEYED(id, name, mode, func, key, params, arguments, ...)                                   \
	TYPED(id, name, mode, params, arguments, __VA_ARGS__)                                      \
	BY_KEY(id, name, func, key, params, arguments)
#define KEYED_WORK(id, name, mode, func, key, params, arguments, ...)                              \
	TYPED_WORK(id, name, mode, params, arguments, __VA_ARGS__)                                 \
	BY_KEY(id, name, func, key, params, arguments)
#define BY_KEY(id, name, func, key, params, arguments)                                             \
	GT_EXPORT int32_t name params                                                              \
	{                                                                                          \
		struct gt_tcb *t = gt_self;                                                        \
		int32_t(*real) params = t->fast[id];                                               \
		const uint64_t words[] = LIST key;                                                 \
		struct gt_keyed_call k = { id, sizeof(words) / 8, func, 0, 0, words };             \
                                                                                                   \
		if (gt_unlikely(!real || !gt_fast_path_is_allowed(t))) {                           \
			gt_ring_pop_abandoned(t, (uintptr_t)__builtin_frame_address(0));           \
			return name##_typed arguments;                                             \
		}                                                                                  \
		if (gt_unlikely(!gt_keyed_call_begin(t, &k)))                                      \
			return name##_typed arguments;                                             \
		return gt_keyed_call_end(t, &k, real arguments);                                   \
	}

/* With a hook that runs when the function has returned, whether the call is recorded or not. */
#define WRAP_THEN(id, name, mode, params, arguments, after, ...)                                   \
	WRAP_AROUND(id, name, mode, params, arguments, (void), after, __VA_ARGS__)
/* With another hook that runs before the call. */
#define WRAP_AROUND(id, name, mode, params, arguments, before, after, ...)                         \
	GT_EXPORT int32_t name params                                                              \
	{                                                                                          \
		const uint64_t words[] = { __VA_ARGS__ };                                          \
		GT_REAL(id, params);                                                               \
		before(words);                                                                     \
		if (!gt_call_enter(&c, id)) {                                                      \
			ret = real arguments;                                                      \
			after(ret, words, __builtin_return_address(0));                            \
			return ret;                                                                \
		}                                                                                  \
		gt_call_start(&c, c.t->args >= mode ? gt_call_open_args(&c, words) : 0);           \
		ret = real arguments;                                                              \
		gt_call_stop(&c);                                                                  \
		after(ret, words, __builtin_return_address(0));                                    \
		if (c.t->args >= mode)                                                             \
			gt_call_record_args(&c, ret, words);                                       \
		else                                                                               \
			gt_call_record(&c, ret);                                                   \
		return ret;                                                                        \
	}
#endif
