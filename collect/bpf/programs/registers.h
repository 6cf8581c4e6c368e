/* What differs between processors: the registers that a program finds, and the numbers of system
 * calls. Names of registers are those of the kernel's struct pt_regs. */
#ifndef GT_BPF_REGISTERS_H
#define GT_BPF_REGISTERS_H
#include <stdbool.h>
#include <linux/types.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

#if defined(__TARGET_ARCH_x86)

struct pt_regs {
	unsigned long r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di, orig_ax, ip,
		cs, flags, sp, ss;
} __attribute__((preserve_access_index));

#define ARGUMENT_1 di
#define ARGUMENT_2 si
#define ARGUMENT_3 dx
#define ARGUMENT_4 cx
#define ARGUMENT_5 r8
#define ARGUMENT_6 r9
#define RETURN_VALUE ax
#define INSTRUCTION_POINTER ip
#define STACK_POINTER sp
#define REGISTER_ARGUMENTS 6
/* The caller has pushed the return address, and the return removes it. */
#define RETURN_ADDRESS_BYTES 8

/* At the begin of a system call and at its end. */
#define CALL_NUMBER orig_ax
#define CALL_ARGUMENT_1 di
#define CALL_ARGUMENT_2 si
#define CALL_ARGUMENT_3 dx
#define CALL_ARGUMENT_4 r10
#define CALL_ARGUMENT_5 r8

enum {
	CALL_OPEN = 2,
	CALL_CLOSE = 3,
	CALL_MMAP = 9,
	CALL_IOCTL = 16,
	CALL_CLONE = 56,
	CALL_FORK = 57,
	CALL_OPENAT = 257,
	CALL_CLONE3 = 435
};

/* May this call send to a socket, or receive? */
static __always_inline bool may_use_socket(__u32 number)
{
	return number <= 1 || number == CALL_CLOSE ||              /* read, write */
		number == 19 || number == 20 ||                    /* readv, writev */
		number == 40 ||                                    /* sendfile */
		(number >= 42 && number <= 48) ||                  /* connect .. shutdown */
		number == 275 || number == 299 || number == 307 || /* splice, recvmmsg, sendmmsg */
		number == 426;                                     /* io_uring_enter */
}

/* Does a child process end this call before it executes code of the program? It returns 0. */
static __always_inline bool is_first_call_of_child(__u32 number)
{
	return number == CALL_CLONE || number == CALL_CLONE3 || number == CALL_FORK;
}

/* X(number, name): registers of USDT arguments. usdt_arguments.c has the same numbers. */
/* clang-format off */
#define FOR_EACH_REGISTER(X)                                                                       \
	X(0, ax)                                                                                   \
	X(1, cx) X(2, dx) X(3, bx) X(4, sp) X(5, bp) X(6, si) X(7, di) X(8, r8) X(9, r9) X(10, r10)\
	X(11, r11) X(12, r12) X(13, r13) X(14, r14) X(15, r15) X(16, ip)
/* clang-format on */

#elif defined(__TARGET_ARCH_arm64)

struct pt_regs {
	__u64 regs[31], sp, pc, pstate, orig_x0;
	__s32 syscallno;
} __attribute__((preserve_access_index));

#define ARGUMENT_1 regs[0]
#define ARGUMENT_2 regs[1]
#define ARGUMENT_3 regs[2]
#define ARGUMENT_4 regs[3]
#define ARGUMENT_5 regs[4]
#define ARGUMENT_6 regs[5]
#define RETURN_VALUE regs[0]
#define INSTRUCTION_POINTER pc
#define STACK_POINTER sp
#define REGISTER_ARGUMENTS 8
/* The return address is in register 30. A function that calls another one has to save it, and
 * compilers do that on the stack: so the frame of a nested call is below that of its caller, and
 * only a tail call has the same frame, as with a return address on the stack. */
#define RETURN_ADDRESS_BYTES 0

/* At its end a system call has its result in register 0. */
#define CALL_NUMBER syscallno
#define CALL_ARGUMENT_1 orig_x0
#define CALL_ARGUMENT_2 regs[1]
#define CALL_ARGUMENT_3 regs[2]
#define CALL_ARGUMENT_4 regs[3]
#define CALL_ARGUMENT_5 regs[4]

/* There is no open. */
enum {
	CALL_OPEN = -1,
	CALL_CLOSE = 57,
	CALL_MMAP = 222,
	CALL_IOCTL = 29,
	CALL_SET_ROBUST_LIST = 99,
	CALL_CLONE = 220,
	CALL_OPENAT = 56
};

static __always_inline bool may_use_socket(__u32 number)
{
	return (number >= 63 && number <= 66) || number == CALL_CLOSE || /* read .. writev */
		number == 71 || number == 76 ||                          /* sendfile, splice */
		(number >= 202 && number <= 212) ||                      /* accept .. recvmsg */
		number == 243 || number == 269 ||                        /* recvmmsg, sendmmsg */
		number == 426;                                           /* io_uring_enter */
}

/* The kernel traces no end of clone in a child; the C library makes this call there first. */
static __always_inline bool is_first_call_of_child(__u32 number)
{
	return number == CALL_SET_ROBUST_LIST;
}

/* clang-format off */
#define FOR_EACH_REGISTER(X)                                                                       \
	X(0, regs[0])                                                                              \
	X(1, regs[1]) X(2, regs[2]) X(3, regs[3]) X(4, regs[4]) X(5, regs[5]) X(6, regs[6])        \
	X(7, regs[7]) X(8, regs[8]) X(9, regs[9]) X(10, regs[10]) X(11, regs[11]) X(12, regs[12])  \
	X(13, regs[13]) X(14, regs[14]) X(15, regs[15]) X(16, regs[16]) X(17, regs[17])            \
	X(18, regs[18]) X(19, regs[19]) X(20, regs[20]) X(21, regs[21]) X(22, regs[22])            \
	X(23, regs[23]) X(24, regs[24]) X(25, regs[25]) X(26, regs[26]) X(27, regs[27])            \
	X(28, regs[28]) X(29, regs[29]) X(30, regs[30]) X(31, sp)
/* clang-format on */

#else
#error "the BPF programs know x86-64 and arm64; add the registers of this processor"
#endif

/* What identifies a call on its stack: the stack pointer at its entry. Calls inside it have lower
 * frames; a tail call has the same one. */
static __always_inline __u64 frame_of_entry(const struct pt_regs *ctx)
{
	return ctx->STACK_POINTER;
}

static __always_inline __u64 frame_of_return(const struct pt_regs *ctx)
{
	return ctx->STACK_POINTER - RETURN_ADDRESS_BYTES;
}

/* The first 6 arguments, which are in registers. */
static __always_inline void read_arguments(const struct pt_regs *ctx, __u64 words[6])
{
	words[0] = ctx->ARGUMENT_1;
	words[1] = ctx->ARGUMENT_2;
	words[2] = ctx->ARGUMENT_3;
	words[3] = ctx->ARGUMENT_4;
	words[4] = ctx->ARGUMENT_5;
	words[5] = ctx->ARGUMENT_6;
}

/* Those behind them, n altogether, at least 8. `words` are of all. */
static __always_inline void read_more_arguments(
	const struct pt_regs *ctx, __u64 *words, const int n)
{
	__u64 frame = frame_of_entry(ctx);

#ifdef __TARGET_ARCH_arm64
	words[6] = ctx->regs[6];
	words[7] = ctx->regs[7];
#endif
	bpf_probe_read_user(&words[REGISTER_ARGUMENTS], 8 * (n - REGISTER_ARGUMENTS),
		(void *)(frame + RETURN_ADDRESS_BYTES));
}
#endif
