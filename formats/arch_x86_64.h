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

/* Defines the exported function `name`(a, b), which asks `hook`(a, b, caller's address) first: what hook returns is returned
 * when it is not NULL; otherwise control jumps to the address in `real` with every register and the return address as they
 * came, so that `real` sees its true caller (dlsym finds RTLD_NEXT and RUNPATH by the return address). */
#define GT_TAIL_JUMP(name, hook, real)								\
	__asm__(".pushsection .text\n\t.globl " #name "\n\t.type " #name ",@function\n\t.p2align 4\n"	\
		#name ":\n\t"									\
		"endbr64\n\t"									\
		"push %rdi\n\tpush %rsi\n\tsub $8,%rsp\n\t"					\
		"mov 24(%rsp),%rdx\n\t"								\
		"call " #hook "\n\t"								\
		"add $8,%rsp\n\tpop %rsi\n\tpop %rdi\n\t"					\
		"test %rax,%rax\n\tjne 1f\n\t"							\
		"jmp *" #real "(%rip)\n"							\
		"1:\tret\n\t"									\
		".size " #name ",.-" #name "\n\t.popsection")
#endif
