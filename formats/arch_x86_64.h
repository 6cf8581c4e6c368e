/* x86-64. The time stamp counter is used where the kernel itself trusts it (clocksource tsc). */
#ifndef GT_ARCH_X86_64_H
#define GT_ARCH_X86_64_H
#include <stdint.h>

#define GT_ARCH_CLOCKSOURCE "tsc"
/* rdtsc may run a few instructions early or late; rdtscp or a fence would cost twice as much (17 against 9 ns). */
static inline uint64_t gt_ticks(void)
{
	uint32_t lo, hi;

	__asm__ volatile("rdtsc" : "=a"(lo), "=d"(hi));
	return (uint64_t)hi << 32 | lo;
}
static inline void gt_cpu_pause(void) { __asm__ volatile("pause"); }

/* Defines the exported function `name`(a, b), which asks `hook`(a, b, caller's address) first. What hook returns with
 * `answered` set is returned; otherwise control jumps to the address in `real` with arguments, stack and return address as they
 * came, so that `real` sees its true caller (dlsym finds RTLD_NEXT and RUNPATH by the return address). */
struct gt_tail { void *value; uint64_t answered; };	/* comes back in rax, rdx */
#define GT_TAIL_JUMP(name, hook, real)								\
	__asm__(".pushsection .text\n\t.globl " #name "\n\t.type " #name ",@function\n\t.p2align 4\n"	\
		#name ":\n\t.cfi_startproc\n\t"							\
		"endbr64\n\t"									\
		"push %rdi\n\t.cfi_adjust_cfa_offset 8\n\t"					\
		"push %rsi\n\t.cfi_adjust_cfa_offset 8\n\t"					\
		"sub $8,%rsp\n\t.cfi_adjust_cfa_offset 8\n\t"					\
		"mov 24(%rsp),%rdx\n\t"								\
		"call " #hook "\n\t"								\
		"add $8,%rsp\n\t.cfi_adjust_cfa_offset -8\n\t"					\
		"pop %rsi\n\t.cfi_adjust_cfa_offset -8\n\t"					\
		"pop %rdi\n\t.cfi_adjust_cfa_offset -8\n\t"					\
		"test %rdx,%rdx\n\tjne 1f\n\t"							\
		"jmp *" #real "(%rip)\n"							\
		"1:\tret\n\t.cfi_endproc\n\t"							\
		".size " #name ",.-" #name "\n\t.popsection")
#endif
