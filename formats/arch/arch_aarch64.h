/* aarch64. The generic timer's virtual count; its frequency (often 25 MHz to 1 GHz) is measured
 * like any other counter's. */
#ifndef GT_ARCH_AARCH64_H
#define GT_ARCH_AARCH64_H
#include <stdint.h>

#define GT_ARCH_CLOCKSOURCE "arch_sys_counter"
static inline uint64_t gt_ticks(void)
{
	uint64_t v;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(v));
	return v;
}
static inline void gt_cpu_pause(void) { __asm__ volatile("yield"); }
static inline void gt_prefetch_to_write(const void *p)
{
	__asm__ volatile("prfm pstl1keep,%0" : : "Q"(*(const uint8_t *)p));
}

/* See arch_x86_64.h. x0 and x1 hold the arguments and the result, x30 the return address; the jump
 * may use x16. */
struct gt_tail {
	void *value;
	uint64_t answered;
};
/* clang-format off */
#define GT_TAIL_JUMP(name, hook, real) \
	__asm__(".pushsection .text\n\t.globl " #name "\n\t.type " #name \
		",%function\n\t.p2align 4\n" #name ":\n\t" \
		"hint #34\n\t" \
		"stp x0,x1,[sp,#-32]!\n\tstr x30,[sp,#16]\n\t" \
		"mov x2,x30\n\t" \
		"bl " #hook "\n\t" \
		"mov x16,x0\n\tmov x17,x1\n\t" \
		"ldr x30,[sp,#16]\n\tldp x0,x1,[sp],#32\n\t" \
		"cbnz x17,1f\n\t" \
		"adrp x16," #real "\n\tldr x16,[x16,:lo12:" #real "]\n\tbr x16\n" \
		"1:\tmov x0,x16\n\tret\n\t" \
		".size " #name ",.-" #name "\n\t.popsection")
/* clang-format on */

#define GT_ARCH_PROBE "hint #34\n1:\tnop\n\tret\n"
#define GT_PROBE_CORRELATION "4@x0 -4@x1 8@x2"
#define GT_PROBE_KERNEL "8@x0 8@x1 4@x2 4@x3 4@x4 4@x5 8@x6 8@x7"
#define GT_PROBE_BATCH "8@x0 4@x1"
#define GT_PROBE_LAUNCH "4@x0 8@x1"
#endif
