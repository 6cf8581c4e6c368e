/* What threads wait for: the BPF programs report the system call and its first argument. If that is
 * a futex, it may be part of an interpreter's lock; if it is a file, it may be a pipe or a socket.
 */
#include "collect/bpf/records/bpf_records.h"
#include "collect/host/remote_python.h"
#include "collect/host/wait_reason.h"

#define UNINTERRUPTIBLE 2u
#define NO_WAIT 0x40cu      /* stopped by a signal or a debugger; an idle thread of the kernel */
#define FILE_LEAST 1000000u /* ns of a wait: in shorter ones the kind of file is not looked up */

static enum gt_sched_state reason_of(const struct gt_bpf_sched *s)
{
	enum gt_sched_state state;

	if (s->preempted)
		return GT_SCHED_PREEMPTED;
	if (s->state & NO_WAIT)
		return GT_SCHED_OTHER;
	if (s->system_call == GT_BPF_NO_SYSTEM_CALL)
		return GT_SCHED_FAULT; /* outside of system calls a thread waits for memory only */
	state = gt_wait_reason(s->system_call);
	return state == GT_SCHED_OTHER && s->state & UNINTERRUPTIBLE ? GT_SCHED_IO : state;
}

static bool is_gil(struct gt_bpf_way *b, const struct gt_bpf_sched *s, uint32_t *holder)
{
	if (!b->python)
		b->python = gt_remote_python_new();
	return b->python && s->argument &&
		gt_remote_python_gil(b->python, s->head.tgid, s->argument, holder, NULL);
}

/* Who ends a wait for the GIL held it. A wait that ends by its timeout has the holder of now. */
static void check_futex(struct gt_bpf_way *b, const struct gt_bpf_sched *s,
	const struct gt_wait_look *look, struct gt_ev_sched *e)
{
	uint32_t holder = 0;
	const bool is_woken = s->by_tid && s->by_tgid == s->head.tgid;

	if (!is_gil(b, s, is_woken || look->holder ? NULL : &holder))
		return;
	e->state = GT_SCHED_GIL;
	e->holder = is_woken ? s->by_tid : look->holder ? look->holder : holder;
	if (e->holder == s->head.tid)
		e->holder = 0;
}

void gt_bpf_wait_reason(struct gt_bpf_way *b, const struct gt_bpf_sched *s,
	const struct gt_wait_look *look, struct gt_ev_sched *e)
{
	e->state = reason_of(s);
	e->stack = look->until ? look->stack : 0;
	if (e->state == GT_SCHED_FUTEX)
		check_futex(b, s, look, e);
	else if (look->until && (look->state == GT_SCHED_PIPE || look->state == GT_SCHED_SOCKET) &&
		(e->state == GT_SCHED_IO || e->state == GT_SCHED_POLL))
		e->state = look->state;
	else if (e->state == GT_SCHED_IO && gt_wait_reads(s->system_call) &&
		s->head.end - s->head.start >= FILE_LEAST)
		e->state = gt_wait_of_file(s->head.tgid, s->head.tid, s->argument);
}

void gt_bpf_waits_forget(struct gt_bpf_way *b, uint32_t tgid)
{
	if (!b->python)
		return;
	gt_remote_python_forget(b->python, tgid, 0);
	gt_remote_python_release(b->python, 0);
}

void gt_bpf_waits_release(struct gt_bpf_way *b) { gt_remote_python_free(b->python); }
