/* The registers of a thread that ptrace has stopped, and how they say what it does: what differs
 * between processors. Functions return false if ptrace fails. */
#ifndef GT_THREAD_REGISTERS_H
#define GT_THREAD_REGISTERS_H
#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <time.h>

static inline bool gt_thread_registers_get(pid_t tid, struct user_regs_struct *r)
{
	struct iovec v = { r, sizeof(*r) };

	return !ptrace(PTRACE_GETREGSET, tid, (void *)NT_PRSTATUS, &v);
}

static inline bool gt_thread_registers_set(pid_t tid, const struct user_regs_struct *r)
{
	struct iovec v = { (void *)(uintptr_t)r, sizeof(*r) };

	return !ptrace(PTRACE_SETREGSET, tid, (void *)NT_PRSTATUS, &v);
}

/* A system call of a stopped thread. number: negative: it is in none. */
struct gt_thread_call {
	int64_t number;
	uint64_t argument; /* the first one, of a call that waits */
};

#if defined(__x86_64__)

/* floating-point and vector registers */
#define GT_THREAD_REGISTERS_MORE NT_X86_XSTATE
/* A stop at the end of a system call has the registers of the program. */
#define GT_THREAD_CALL_END_IS_EXACT true

static inline uint64_t gt_thread_pc(const struct user_regs_struct *r) { return r->rip; }
static inline uint64_t gt_thread_sp(const struct user_regs_struct *r) { return r->rsp; }
static inline uint64_t gt_thread_result(const struct user_regs_struct *r) { return r->rax; }
static inline bool gt_thread_is_64_bit(const struct user_regs_struct *r) { return r->cs == 0x33; }

static inline struct gt_thread_call gt_thread_call_of(
	const struct user_regs_struct *r, uint32_t before, uint32_t at)
{
	(void)before, (void)at;
	return (struct gt_thread_call){ (int64_t)r->orig_rax, r->rdi };
}

/* The function returns to address 0, which is on the stack. */
static inline void gt_thread_prepare_call(
	struct user_regs_struct *r, uint64_t function, const uint64_t arguments[4], uint64_t stack)
{
	r->rsp = (stack & ~15ull) - 8;
	r->rip = function;
	r->rdi = arguments[0];
	r->rsi = arguments[1];
	r->rdx = arguments[2];
	r->rcx = arguments[3];
	r->rax = 0;
	r->orig_rax = UINT64_MAX; /* the kernel restarts no system call now */
	r->eflags &= ~0x500ull;   /* direction, single step */
}

static inline void gt_thread_prepare_restart(struct user_regs_struct *r, uint32_t at)
{
	(void)r, (void)at;
}

#elif defined(__aarch64__)

#define GT_THREAD_REGISTERS_MORE NT_PRFPREG
/* There register 7 tells which stop it is. */
#define GT_THREAD_CALL_END_IS_EXACT false
#define GT_THREAD_SVC 0xd4000001u /* the instruction of a system call */

static inline uint64_t gt_thread_pc(const struct user_regs_struct *r) { return r->pc; }
static inline uint64_t gt_thread_sp(const struct user_regs_struct *r) { return r->sp; }
static inline uint64_t gt_thread_result(const struct user_regs_struct *r) { return r->regs[0]; }
static inline bool gt_thread_is_64_bit(const struct user_regs_struct *r)
{
	return !(r->pstate & 0x10);
}

/* before, at: the instructions before the program counter and at it. The kernel does not tell: it
 * has set the program counter back to the instruction of a call that it will make again. */
static inline struct gt_thread_call gt_thread_call_of(
	const struct user_regs_struct *r, uint32_t before, uint32_t at)
{
	if (at == GT_THREAD_SVC)
		return (struct gt_thread_call){ (int64_t)r->regs[8], r->regs[0] };
	return (struct gt_thread_call){ before == GT_THREAD_SVC ? (int64_t)r->regs[8] : -1, 0 };
}

static inline void gt_thread_prepare_call(
	struct user_regs_struct *r, uint64_t function, const uint64_t arguments[4], uint64_t stack)
{
	r->sp = stack & ~15ull;
	r->pc = function;
	for (int i = 0; i < 4; i++)
		r->regs[i] = arguments[i];
	r->regs[30] = 0;
	r->pstate &= ~0x200c00ull; /* single step; branch type */
}

/* The kernel makes a call that it has interrupted again only if nothing has changed the program
 * counter meanwhile. Then a sleep must not begin anew. */
static inline void gt_thread_prepare_restart(struct user_regs_struct *r, uint32_t at)
{
	bool sleeps = r->regs[8] == SYS_nanosleep ||
		(r->regs[8] == SYS_clock_nanosleep && !(r->regs[1] & TIMER_ABSTIME));

	if (at == GT_THREAD_SVC && sleeps)
		r->regs[8] = SYS_restart_syscall;
}

#else
#error "injection: write the registers of this processor"
#endif
#endif
