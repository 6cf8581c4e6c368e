/* x86-64. The time stamp counter is used where the kernel itself trusts it (clocksource tsc). */
#ifndef GT_ARCH_X86_64_H
#define GT_ARCH_X86_64_H
#include <stdint.h>

#define GT_ARCH_CLOCKSOURCE "tsc"
/* rdtsc may run a few instructions early or late; rdtscp or a fence would cost twice as much (17
 * against 9 ns). */
static inline uint64_t gt_ticks(void)
{
	uint32_t lo, hi;

	__asm__ volatile("rdtsc" : "=a"(lo), "=d"(hi));
	return (uint64_t)hi << 32 | lo;
}
static inline void gt_cpu_pause(void) { __asm__ volatile("pause"); }
/* Fetches a line to be written soon. Processors without the instruction do nothing for it. */
static inline void gt_prefetch_to_write(const void *p)
{
	__asm__ volatile("prefetchw %0" : : "m"(*(const uint8_t *)p));
}

/* Defines the exported function `name`(a, b), which calls `hook`(a, b, caller's address) first. If
 * hook sets `answered`, its `value` is returned. Otherwise control jumps to the address in `real`
 * with the original arguments, stack and return address, so that `real` sees its true caller (dlsym
 * finds RTLD_NEXT and RUNPATH by the return address). */
struct gt_tail { /* returned in rax, rdx */
	void *value;
	uint64_t answered;
};
/* clang-format off */
#define GT_TAIL_JUMP(name, hook, real) \
	__asm__(".pushsection .text\n\t.globl " #name "\n\t.type " #name \
		",@function\n\t.p2align 4\n" \
		#name ":\n\t.cfi_startproc\n\t" \
		"endbr64\n\t" \
		"push %rdi\n\t.cfi_adjust_cfa_offset 8\n\t" \
		"push %rsi\n\t.cfi_adjust_cfa_offset 8\n\t" \
		"sub $8,%rsp\n\t.cfi_adjust_cfa_offset 8\n\t" \
		"mov 24(%rsp),%rdx\n\t" \
		"call " #hook "\n\t" \
		"add $8,%rsp\n\t.cfi_adjust_cfa_offset -8\n\t" \
		"pop %rsi\n\t.cfi_adjust_cfa_offset -8\n\t" \
		"pop %rdi\n\t.cfi_adjust_cfa_offset -8\n\t" \
		"test %rdx,%rdx\n\tjne 1f\n\t" \
		"jmp *" #real "(%rip)\n" \
		"1:\tret\n\t.cfi_endproc\n\t" \
		".size " #name ",.-" #name "\n\t.popsection")
/* clang-format on */

/* A USDT probe (guest_usdt.c) is a function of its own: its arguments are where the calling
 * convention puts them. The first nop serves all tracers. When a tracer attaches, Linux 6.18 and
 * newer replaces the five-byte nop behind it by a call. That call writes below the stack pointer;
 * a function without C code has no data there. The macros below say where the arguments are, in the
 * syntax of the probe's ELF note. */
#define GT_ARCH_PROBE "endbr64\n1:\t.byte 0x90,0x0f,0x1f,0x44,0,0\n\tret\n"
#define GT_PROBE_CORRELATION "4@%edi -4@%esi 8@%rdx"
#define GT_PROBE_KERNEL "8@%rdi 8@%rsi 4@%edx 4@%ecx 4@%r8d 4@%r9d 8@8(%rsp) 8@16(%rsp)"
#define GT_PROBE_BATCH "8@%rdi 4@%esi"
#define GT_PROBE_LAUNCH "4@%edi 8@%rsi"

/* The fast path of guest_fast_path.c, which has the same in C. In assembly it touches one cache
 * line less and has no second stack frame. Stub: exports `name`, which runs the body with `id` in
 * eax. */
#define GT_ARCH_PLAIN
#define GT_TEXT_(x) #x
#define GT_TEXT(x) GT_TEXT_(x)
/* clang-format off */
#define GT_ARCH_PLAIN_STUB(id, name, body) \
	__asm__(".pushsection .text.hot.gt_fast_call,\"ax\",@progbits\n\t" \
		".globl " #name "\n\t.type " #name ",@function\n\t.p2align 4\n" \
		#name ":\n\t.cfi_startproc\n\tendbr64\n\tmov $" #id ",%eax\n\tjmp " #body "\n\t" \
		".cfi_endproc\n\t.size " #name ",.-" #name "\n\t.popsection")
/* clang-format on */
/* struct gt_tcb and struct gt_ring_thread, in bytes; guest_fast_path.c asserts them. */
#define GT_TCB_RING 0
#define GT_TCB_BASE 8
#define GT_TCB_POSITION 16
#define GT_TCB_LIMIT 24
#define GT_TCB_DEPTH 32
#define GT_TCB_FRAME 56
#define GT_TCB_FAST 184
#define GT_RING_WORD 128
#define GT_WORD_START 8 /* from the word */
#define GT_WORD_ID 16
#define GT_WORD_PASS 20
/* Registers of the body: rbx the control block, rbp the start, r12d the id, r10 the function, r11
 * the ring's line. The exits to the typed wrappers stand before it, in reach of short jumps. */
/* clang-format off */
#define GT_ARCH_PLAIN_BODY(name, self, typed, record_slowly) \
	__asm__(".pushsection .text.hot.gt_fast_call,\"ax\",@progbits\n\t" \
		".p2align 6\n\t.skip 48,0xcc\n\t" \
		".cfi_startproc\n\t.cfi_def_cfa_offset 16\n\t.cfi_offset rbx,-16\n" \
		"2:\tpop %rbx\n\t.cfi_def_cfa_offset 8\n\t.cfi_restore rbx\n" \
		"1:\tlea " #typed "(%rip),%r11\n\tjmp *(%r11,%rax,8)\n\t.cfi_endproc\n\t" \
		".globl " #name "\n\t.hidden " #name "\n\t.type " #name \
		",@function\n\t.p2align 6,0xcc\n" \
		#name ":\n\t.cfi_startproc\n\t" \
		"mov " #self "@gottpoff(%rip),%r11\n\t" \
		"mov %fs:(%r11),%r11\n\t" \
		"mov " GT_TEXT(GT_TCB_FAST) "(%r11,%rax,8),%r10\n\t" \
		"test %r10,%r10\n\tje 1b\n\t" \
		"cmpl $0," GT_TEXT(GT_TCB_DEPTH) "(%r11)\n\tjne 1b\n\t" \
		"push %rbx\n\t.cfi_adjust_cfa_offset 8\n\t.cfi_rel_offset rbx,0\n\t" \
		"mov %r11,%rbx\n\t" \
		"mov (%r11),%r11\n\t" \
		"sub $-" GT_TEXT(GT_RING_WORD) ",%r11\n\t" \
		"cmpl $0," GT_TEXT(GT_WORD_PASS) "(%r11)\n\tjne 2b\n\t" \
		"push %rbp\n\t.cfi_adjust_cfa_offset 8\n\t.cfi_rel_offset rbp,0\n\t" \
		"push %r12\n\t.cfi_adjust_cfa_offset 8\n\t.cfi_rel_offset r12,0\n\t" \
		"mov %eax,%r12d\n\t" \
		"movl $1," GT_TEXT(GT_TCB_DEPTH) "(%rbx)\n\t" \
		"mov %rsp," GT_TEXT(GT_TCB_FRAME) "(%rbx)\n\t" \
		"mov %eax," GT_TEXT(GT_WORD_ID) "(%r11)\n\t" \
		"mov %rdx,%rbp\n\t" \
		"rdtsc\n\tshl $32,%rdx\n\tor %rdx,%rax\n\t" \
		"mov %rax," GT_TEXT(GT_WORD_START) "(%r11)\n\t" \
		"mov %rbp,%rdx\n\tmov %rax,%rbp\n\t" \
		"movb $1,(%r11)\n\t" \
		"call *%r10\n\t" \
		"mov %eax,%edi\n\t" \
		"movb $1,1+" GT_TEXT(GT_TCB_DEPTH) "(%rbx)\n\t" \
		"rdtsc\n\tshl $32,%rdx\n\tor %rax,%rdx\n\t" \
		"mov " GT_TEXT(GT_TCB_POSITION) "(%rbx),%rsi\n\t" \
		"lea 24(%rsi),%rcx\n\t" \
		"cmp %rcx," GT_TEXT(GT_TCB_LIMIT) "(%rbx)\n\tjb 4f\n\t" \
		"add " GT_TEXT(GT_TCB_BASE) "(%rbx),%rsi\n\t" \
		"mov (%rbx),%r11\n\t" \
		"mov %rbp,(%rsi)\n\tmov %rdx,8(%rsi)\n\t" \
		"mov %r12d,16(%rsi)\n\tmov %edi,20(%rsi)\n\t" \
		"mov %rcx," GT_TEXT(GT_TCB_POSITION) "(%rbx)\n\t" \
		"shl $8,%rcx\n\tmov %rcx," GT_TEXT(GT_RING_WORD) "(%r11)\n\t" \
		"xor %ecx,%ecx\n\tmov %rcx," \
		GT_TEXT(GT_RING_WORD) "+" GT_TEXT(GT_WORD_START) "(%r11)\n\t" \
		"mov %ecx," GT_TEXT(GT_TCB_DEPTH) "(%rbx)\n\t" \
		"mov %edi,%eax\n" \
		"3:\t.cfi_remember_state\n\t" \
		"pop %r12\n\t.cfi_adjust_cfa_offset -8\n\t.cfi_restore r12\n\t" \
		"pop %rbp\n\t.cfi_adjust_cfa_offset -8\n\t.cfi_restore rbp\n\t" \
		"pop %rbx\n\t.cfi_adjust_cfa_offset -8\n\t.cfi_restore rbx\n\t" \
		"ret\n" \
		"4:\t.cfi_restore_state\n\t" \
		"mov %rbp,%rsi\n\tmov %r12d,%ecx\n\txor %r8d,%r8d\n\txor %r9d,%r9d\n\t" \
		"call " #record_slowly "\n\tjmp 3b\n\t" \
		".cfi_endproc\n\t.size " #name ",.-" #name "\n\t.popsection")
/* clang-format on */
#endif
