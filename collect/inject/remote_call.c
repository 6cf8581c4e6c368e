/* A thread that ptrace stops inside a waiting system call, or at the end of one, holds no register
 * that the call must preserve beyond those that ptrace saves. The function returns to address 0.
 * The fault there stops the thread again, before any handler of the program sees it; all other
 * signals are blocked meanwhile. The 128 bytes below the stack pointer are the red zone, which code
 * of x86-64 may use without moving the pointer. thread_registers.h has what else differs between
 * processors.
 *
 * The thread may hold a lock that dlopen takes. The loader's lock and that of the allocator are the
 * ones that matter: where the program counter or an address on the stack lies in their code, the
 * thread is left alone. An old value on the stack has the same effect, which costs another try. */
#define _GNU_SOURCE
#include "collect/inject/remote_call.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include "collect/inject/thread_registers.h"
#include "formats/trace/clock.h"

#define STOP_NS 100000000ll    /* until an interrupted thread stops */
#define BOUNDARY_NS 20000000ll /* until a running thread makes a system call */
#define CALL_NS 10000000000ll
#define RED_ZONE 128
#define WAITS_AFTER 25u /* attempts at the same place, in half a second */
#define SCAN_BYTES 4096
#define SYSCALL_STOP (SIGTRAP | 0x80)

struct gt_remote_registers {
	struct user_regs_struct general;
	uint8_t extended[GT_REMOTE_XSTATE_MAX];
	size_t extended_bytes;
};
static _Thread_local struct gt_remote_registers registers;

/* ---- stops ---- */

static int wait_until(pid_t tid, int64_t until, int *status)
{
	const struct timespec pause = { .tv_nsec = 20000 };
	pid_t got;

	for (;;) {
		got = waitpid(tid, status, __WALL | WNOHANG);
		if (got < 0 && errno != EINTR)
			return -ESRCH;
		if (got == tid)
			return WIFSTOPPED(*status) ? 0 : -ESRCH;
		if (gt_clock_monotonic() > until)
			return -ETIMEDOUT;
		nanosleep(&pause, NULL);
	}
}

/* A signal that stopped the thread is delivered when it continues. */
static int signal_of(int status)
{
	int s = WSTOPSIG(status);

	return status >> 16 || s == SYSCALL_STOP ? 0 : s;
}

/* From the end of a system call to the next stop, before the thread executes anything. */
static int leave_call(pid_t tid, int *status)
{
	int rc;

	if (ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) ||
		ptrace(PTRACE_CONT, tid, NULL, (void *)(intptr_t)signal_of(*status)))
		return -ESRCH;
	rc = wait_until(tid, gt_clock_monotonic() + STOP_NS, status);
	return rc ? rc : signal_of(*status) ? -EAGAIN : 0;
}

/* Continues until the thread is at the end of a system call. */
static int run_to_boundary(pid_t tid, int *status)
{
	int64_t until = gt_clock_monotonic() + BOUNDARY_NS;
	int rc = 0, stops = 0;

	while (!rc && stops < 2) {
		if (ptrace(PTRACE_SYSCALL, tid, NULL, (void *)(intptr_t)signal_of(*status)))
			return -ESRCH;
		rc = wait_until(tid, until, status);
		if (rc == -ETIMEDOUT) { /* it computes, or waits in that call */
			ptrace(PTRACE_INTERRUPT, tid, NULL, NULL);
			rc = wait_until(tid, until + STOP_NS, status);
			if (!rc && (!stops || signal_of(*status)))
				rc = -EAGAIN;
			break;
		}
		stops += !rc && WSTOPSIG(*status) == SYSCALL_STOP;
	}
	if (rc || GT_THREAD_CALL_END_IS_EXACT || WSTOPSIG(*status) != SYSCALL_STOP)
		return rc;
	return leave_call(tid, status);
}

static bool makes_process(int64_t call)
{
#ifdef SYS_fork
	if (call == SYS_fork || call == SYS_vfork)
		return true;
#endif
	return call == SYS_clone || call == SYS_execve || call == SYS_execveat ||
		call == SYS_rt_sigreturn || call == SYS_exit || call == SYS_exit_group ||
		call == 435 /* clone3 */;
}

/* The code around the program counter: of processors with instructions of 4 bytes, the one before
 * it and the one at it. */
static void read_code(const struct gt_remote_thread *t, uint64_t pc, uint32_t code[2])
{
	if (!gt_remote_read(t, pc - 4, code, 8))
		code[0] = code[1] = 0;
}

static struct gt_thread_call call_of(
	const struct gt_remote_thread *t, const struct user_regs_struct *r)
{
	uint32_t code[2];

	read_code(t, gt_thread_pc(r), code);
	return gt_thread_call_of(r, code[0], code[1]);
}

/* Is an address in the newest part of the stack one of the loader's or the allocator's code? */
static bool stack_is_safe(const struct gt_remote_thread *t, uint64_t stack)
{
	uint64_t words[SCAN_BYTES / 8];
	struct iovec here = { words, sizeof(words) };
	struct iovec there = { (void *)stack, sizeof(words) };
	ssize_t n = -1;

	for (; n < 0 && there.iov_len >= 64; there.iov_len /= 2)
		n = process_vm_readv(t->pid, &here, 1, &there, 1, 0);
	for (ssize_t i = 0; i < n / 8; i++)
		if (gt_remote_is_unsafe(t->symbols, words[i]))
			return false;
	return n > 0;
}

/* Was the thread at this place in each of the last attempts? Then it waits there, and words of an
 * earlier call on its stack, in variables that have no value yet, are no reason to refuse it: in
 * the loader and in malloc, a thread does not wait for so long with a lock that a call would need.
 */
static bool stays_here(pid_t tid, const struct user_regs_struct *r)
{
	static struct {
		pid_t tid;
		uint64_t pc, sp;
		unsigned times;
	} places[64];
	__typeof__(*places) *p = &places[(unsigned)tid % 64];

	if (p->tid != tid || p->pc != gt_thread_pc(r) || p->sp != gt_thread_sp(r))
		p->times = 0;
	p->tid = tid;
	p->pc = gt_thread_pc(r);
	p->sp = gt_thread_sp(r);
	return p->times++ >= WAITS_AFTER;
}

static bool is_safe(const struct gt_remote_thread *t)
{
	const struct user_regs_struct *r = &registers.general;
	const int64_t call = call_of(t, r).number;
	bool stays = stays_here(t->tid, r);

	return call >= 0 && !makes_process(call) && gt_thread_is_64_bit(r) &&
		!gt_remote_is_unsafe(t->symbols, gt_thread_pc(r)) &&
		(stays || stack_is_safe(t, gt_thread_sp(r)));
}

static int save_registers(struct gt_remote_thread *t)
{
	struct iovec v = { registers.extended, sizeof(registers.extended) };
	uint64_t blocked = ~(1ull << (SIGSEGV - 1) | 1ull << (SIGBUS - 1));

	if (ptrace(PTRACE_GETREGSET, t->tid, (void *)GT_THREAD_REGISTERS_MORE, &v) ||
		v.iov_len >= sizeof(registers.extended) ||
		ptrace(PTRACE_GETSIGMASK, t->tid, (void *)8, &t->mask) ||
		ptrace(PTRACE_SETSIGMASK, t->tid, (void *)8, &blocked))
		return -EAGAIN;
	registers.extended_bytes = v.iov_len;
	t->registers = &registers;
	t->stack = gt_thread_sp(&registers.general) - RED_ZONE;
	return 0;
}

static void save_errno(struct gt_remote_thread *t);

/* Of a thread that ptrace has seized. */
static int stop_seized(struct gt_remote_thread *t)
{
	int status = 0, rc;

	if (ptrace(PTRACE_INTERRUPT, t->tid, NULL, NULL))
		return -ESRCH;
	rc = wait_until(t->tid, gt_clock_monotonic() + STOP_NS, &status);
	t->stopped_at = gt_clock_monotonic();
	if (rc)
		return rc;
	if (!gt_thread_registers_get(t->tid, &registers.general))
		return -ESRCH;
	if (call_of(t, &registers.general).number < 0) {
		rc = run_to_boundary(t->tid, &status);
		t->stopped_at = gt_clock_monotonic();
		if (!rc && !gt_thread_registers_get(t->tid, &registers.general))
			rc = -ESRCH;
	} else if (signal_of(status)) {
		rc = -EAGAIN; /* a signal is about to be delivered, and detaching would drop it */
	}
	t->signal = signal_of(status);
	if (!rc && !is_safe(t))
		rc = -EAGAIN;
	return rc ? rc : save_registers(t);
}

int gt_remote_stop(
	struct gt_remote_thread *t, pid_t pid, pid_t tid, const struct gt_remote_symbols *s)
{
	int rc;

	*t = (struct gt_remote_thread){ .pid = pid, .tid = tid, .symbols = s };
	if (ptrace(PTRACE_SEIZE, tid, NULL, (void *)PTRACE_O_TRACESYSGOOD))
		return errno == ESRCH ? -ESRCH : -EPERM;
	rc = stop_seized(t);
	if (rc) {
		ptrace(PTRACE_DETACH, tid, NULL, (void *)(intptr_t)t->signal);
		return rc == -ETIMEDOUT ? -EAGAIN : rc;
	}
	save_errno(t);
	return 0;
}

/* ---- calls ---- */

static bool write_stack(struct gt_remote_thread *t, uint64_t at, const void *bytes, size_t n)
{
	struct iovec here = { (void *)(uintptr_t)bytes, n };
	struct iovec there = { (void *)at, n };

	return process_vm_writev(t->pid, &here, 1, &there, 1, 0) == (ssize_t)n;
}

/* The call waits for the loader's lock, so it has not taken anything: it can be given up. */
static bool waits_for_loader(const struct gt_remote_thread *t, const struct user_regs_struct *r)
{
	const struct gt_thread_call call = call_of(t, r);

	return call.number == SYS_futex && call.argument >= t->symbols->loader_data.from &&
		call.argument < t->symbols->loader_data.to;
}

/* The thread has not returned in time. It waits for the loader's lock, which another thread holds:
 * then it is stopped. Otherwise it goes on, as it may hold that lock itself. */
static int stop_late_call(struct gt_remote_thread *t, struct user_regs_struct *r)
{
	int status;

	ptrace(PTRACE_INTERRUPT, t->tid, NULL, NULL);
	if (wait_until(t->tid, gt_clock_monotonic() + STOP_NS, &status) ||
		!gt_thread_registers_get(t->tid, r))
		return -ESRCH;
	if (WSTOPSIG(status) == SIGSEGV && !(status >> 16))
		return 0; /* it has returned just now */
	return waits_for_loader(t, r) ? -ETIMEDOUT : -EAGAIN;
}

static int wait_for_return(struct gt_remote_thread *t, uint64_t *result)
{
	struct user_regs_struct r;
	int status, rc;

	for (int tries = 0; tries < 6; tries++) {
		if (ptrace(PTRACE_CONT, t->tid, NULL, NULL))
			return -ESRCH;
		rc = wait_until(t->tid, gt_clock_monotonic() + CALL_NS, &status);
		if (rc == -ETIMEDOUT)
			rc = stop_late_call(t, &r);
		else if (!rc && !gt_thread_registers_get(t->tid, &r))
			rc = -ESRCH;
		if (rc == -EAGAIN)
			continue;
		if (rc)
			return rc;
		if (!gt_thread_pc(&r)) {
			*result = gt_thread_result(&r);
			return 0;
		}
		if (WSTOPSIG(status) == SIGSEGV || WSTOPSIG(status) == SIGBUS)
			return -EFAULT;
	}
	return -ETIMEDOUT;
}

int gt_remote_call(struct gt_remote_thread *t, uint64_t function, const uint64_t arguments[4],
	uint64_t *result)
{
	struct user_regs_struct r = registers.general;
	const uint64_t back = 0;

	gt_thread_prepare_call(&r, function, arguments, t->stack);
	/* where x86-64 has the return address */
	if (!write_stack(t, (t->stack & ~15ull) - 8, &back, sizeof(back)) ||
		!gt_thread_registers_set(t->tid, &r))
		return -EFAULT;
	return wait_for_return(t, result);
}

uint64_t gt_remote_put(struct gt_remote_thread *t, const void *bytes, size_t n)
{
	t->stack = (t->stack - n) & ~7ull;
	return write_stack(t, t->stack, bytes, n) ? t->stack : 0;
}

uint64_t gt_remote_put_text(struct gt_remote_thread *t, const char *text)
{
	return gt_remote_put(t, text, strlen(text) + 1);
}

bool gt_remote_read(const struct gt_remote_thread *t, uint64_t at, void *to, size_t n)
{
	struct iovec here = { to, n }, there = { (void *)at, n };

	return process_vm_readv(t->pid, &here, 1, &there, 1, 0) == (ssize_t)n;
}

void gt_remote_read_text(const struct gt_remote_thread *t, uint64_t at, char *text, size_t size)
{
	struct iovec here = { text, size - 1 };
	struct iovec there = { (void *)at, size - 1 };
	ssize_t n = -1;

	for (; at && n < 0 && there.iov_len > 8; there.iov_len /= 2)
		n = process_vm_readv(t->pid, &here, 1, &there, 1, 0);
	text[n > 0 ? n : 0] = 0;
}

static uint64_t errno_address(struct gt_remote_thread *t)
{
	uint64_t at = 0;

	if (t->symbols->errno_location)
		gt_remote_call(t, t->symbols->errno_location, GT_REMOTE_ARGUMENTS(0), &at);
	return at;
}

static void save_errno(struct gt_remote_thread *t)
{
	uint64_t at = errno_address(t);

	t->has_errno = at && gt_remote_read(t, at, &t->error_number, sizeof(int));
}

int64_t gt_remote_continue(struct gt_remote_thread *t)
{
	struct iovec v = { registers.extended, registers.extended_bytes };
	uint64_t at = t->has_errno ? errno_address(t) : 0;
	uint32_t code[2];

	if (at)
		write_stack(t, at, &t->error_number, sizeof(int));
	ptrace(PTRACE_SETREGSET, t->tid, (void *)GT_THREAD_REGISTERS_MORE, &v);
	read_code(t, gt_thread_pc(&registers.general), code);
	gt_thread_prepare_restart(&registers.general, code[1]);
	gt_thread_registers_set(t->tid, &registers.general);
	ptrace(PTRACE_SETSIGMASK, t->tid, (void *)8, &t->mask);
	ptrace(PTRACE_DETACH, t->tid, NULL, NULL);
	return gt_clock_monotonic() - t->stopped_at;
}
