/* The use of the GPUs' time and the causes of idle time in random programs, compared with a count
 * of each nanosecond. */
#define _GNU_SOURCE
#include "analyze/idle/idle.h"
#include "tests/unit/analyze/idle/idle_programs.h"
#include "tests/unit/random_program.h"

/* ---- counted a second time ---- */

struct naive {
	int64_t from, to, min, cut_from, cut_to;
	bool cut;
	/* calls: by call, those in one */
	double parts[GT_WORK_KINDS + GT_IDLE_CAUSE_COUNT], exposed[8], idle[2], calls[RP_WHATS];
	int devices;
	int room; /* of a stream's queue; 0: more than the program needs */
};

static struct rp p;

static int kind_of(const struct rp_op *o)
{
	return o->what != RP_LAUNCH ? GT_WORK_COPY
		: o->kernel == 3    ? GT_WORK_COMMUNICATION
				    : GT_WORK_COMPUTE;
}

/* Does the filter leave it? An operation of no length counts where it begins. */
static bool seen(const struct naive *n, const struct rp_op *o)
{
	return !n->cut ||
		(o->start < n->cut_to && (o->end > n->cut_from || o->start >= n->cut_from));
}

/* Kernels by number; copies and sets by the part that distinguishes their names. */
static int name_of(const struct rp_op *o)
{
	return o->what == RP_LAUNCH ? o->kernel
		: o->what == RP_SET
		? 5
		: 100 + (int)o->direction * 100 + (int)o->src * 10 + (int)o->dst;
}

static bool is_pageable(const struct rp_op *o)
{
	return o->what == RP_COPY &&
		(o->src == GT_GPU_MEM_PAGEABLE || o->dst == GT_GPU_MEM_PAGEABLE);
}

/* The operation that ends the gap at x; NULL: none. */
static const struct rp_op *next_of(const struct naive *n, int device, int64_t x)
{
	const struct rp_op *best = NULL;

	for (int i = 0; i < p.nops; i++) {
		const struct rp_op *o = &p.ops[i];

		if (o->device != device || o->start <= x || !seen(n, o))
			continue;
		if (!best || o->start < best->start)
			best = o;
		else if (o->start == best->start) {
			bool a = o->call >= 0, b = best->call >= 0;

			if (a != b ? a : a && p.calls[o->call].start < p.calls[best->call].start)
				best = o;
		}
	}
	return best;
}

/* At time x, are so many operations queued before this call's work that it does not fit? The
 * order on a stream is that of starts. */
static bool finds_no_room(const struct naive *n, const struct rp_call *c, int64_t x)
{
	int before = 0;

	for (int i = 0; n->room && c->op >= 0 && i < p.nops; i++) {
		const struct rp_op *o = &p.ops[i], *own = &p.ops[c->op];

		if (o->device == own->device && o->stream == own->stream &&
			(o->start < own->start || (o->start == own->start && i < c->op)))
			before += o->start > x;
	}
	return n->room && before >= n->room;
}

/* The cause of a state of the scheduler: written a second time, as all of this count, so that a
 * wrong row in the table of idle_causes.c is seen. */
static unsigned cause_of_state(enum gt_sched_state state)
{
	return state == GT_SCHED_RUNNABLE || state == GT_SCHED_PREEMPTED ? GT_IDLE_RUNNABLE
		: state == GT_SCHED_FUTEX                                ? GT_IDLE_LOCK
		: state == GT_SCHED_GIL                                  ? GT_IDLE_GIL
		: state == GT_SCHED_PIPE                                 ? GT_IDLE_PIPE
		: state == GT_SCHED_SOCKET                               ? GT_IDLE_SOCKET
		: state == GT_SCHED_IO || state == GT_SCHED_POLL         ? GT_IDLE_IO
		: state == GT_SCHED_SLEEP                                ? GT_IDLE_ASLEEP
		: state == GT_SCHED_FAULT                                ? GT_IDLE_FAULT
									 : GT_IDLE_OFF_CPU;
}

/* What the scheduler says of a thread at x; GT_IDLE_OUTSIDE: it runs. */
static unsigned off_cpu(int thread, int64_t x)
{
	for (int i = 0; i < p.noffs; i++)
		if (p.offs[i].thread == thread && p.offs[i].start <= x && p.offs[i].end > x)
			return cause_of_state(p.offs[i].state);
	return GT_IDLE_OUTSIDE;
}

static unsigned on_thread(struct naive *n, int thread, int64_t x, const struct rp_op *next)
{
	if (off_cpu(thread, x) == GT_IDLE_RUNNABLE)
		return GT_IDLE_RUNNABLE; /* in a call, too */
	for (int depth = 1; depth >= 0; depth--)
		for (int i = 0; i < p.ncalls; i++) {
			const struct rp_call *c = &p.calls[i];

			if (c->thread != thread || c->depth != depth || c->start > x || c->end <= x)
				continue;
			if (c->op >= 0 && is_pageable(&p.ops[c->op]) &&
				p.ops[c->op].start <= next->start)
				return GT_IDLE_PAGEABLE;
			switch (c->what) {
			case RP_IOCTL: return GT_IDLE_IOCTL;
			case RP_SYNC:
			case RP_SYNC_ALL: return GT_IDLE_SYNC;
			case RP_ALLOC:
			case RP_FREE: return GT_IDLE_MEMORY;
			case RP_MODULE: return GT_IDLE_MODULE;
			default:
				if (finds_no_room(n, c, x))
					return GT_IDLE_FULL;
				n->calls[c->what]++;
				return GT_IDLE_CALL;
			}
		}
	return off_cpu(thread, x);
}

static int64_t first_start(const struct naive *n, int device)
{
	int64_t first = INT64_MAX;

	for (int i = 0; i < p.nops; i++)
		if ((device < 0 || p.ops[i].device == device) && p.ops[i].start < first &&
			seen(n, &p.ops[i]))
			first = p.ops[i].start;
	return first;
}

static unsigned why(struct naive *n, int device, int64_t x)
{
	const struct rp_op *next = next_of(n, device, x);
	const struct rp_call *c = next && next->call >= 0 ? &p.calls[next->call] : NULL;

	if (!next)
		return GT_IDLE_END;
	if (first_start(n, device) > x && first_start(n, !device) < first_start(n, device))
		return GT_IDLE_START;
	if (!c)
		return GT_IDLE_UNJOINED;
	return x >= c->end ? GT_IDLE_QUEUED : on_thread(n, c->thread, x, next);
}

/* One nanosecond of one device. */
static void look_at(struct naive *n, int device, int64_t x)
{
	int kind = GT_WORK_KINDS, name = -1;

	for (int i = 0; i < p.nops; i++) {
		const struct rp_op *o = &p.ops[i];

		if (o->device != device || o->start > x || o->end <= x)
			continue;
		kind = kind_of(o) < kind ? kind_of(o) : kind;
		name = name < 0 || name == name_of(o) ? name_of(o) : 1000;
	}
	if (name >= 0 && name < 6)
		n->exposed[name]++;
	if (kind < GT_WORK_KINDS)
		n->parts[kind]++;
	else
		n->parts[GT_WORK_KINDS + why(n, device, x)]++, n->idle[device]++;
}

static void count(struct naive *n)
{
	for (int d = 0; d < 2; d++) {
		if (first_start(n, d) == INT64_MAX)
			continue;
		n->devices++;
		for (int64_t x = n->from; x < n->to; x++)
			look_at(n, d, x);
	}
}

static bool agree(const json_t *j, const struct naive *n)
{
	double all = (double)(n->to - n->from) * n->devices, sum = 0;
	static const char *const works[] = { "compute", "communication", "copies" };
	bool ok = num(row(j, "budget", 0), "total_ns") == all &&
		rows(j, "budget_gpus") == (size_t)n->devices;

	for (unsigned i = 0; i < GT_WORK_KINDS + GT_IDLE_CAUSE_COUNT; i++) {
		const char *key = i < GT_WORK_KINDS ? works[i] : gt_idle_key(i - GT_WORK_KINDS);

		if (part(j, key) != n->parts[i]) {
			printf("# seed %u: %s is %.0f, not %.0f\n", p.seed, key, part(j, key),
				n->parts[i]);
			ok = false;
		}
		sum += n->parts[i];
	}
	for (int k = 0; k < 5; k++) {
		const json_t *r = row_named(j, "exposed", "name", rp_kernels[k]);

		ok &= r ? num(r, "exposed_ns") == n->exposed[k] : !n->exposed[k];
	}
	for (size_t i = 0; i < rows(j, "gaps"); i++) {
		const json_t *r = row(j, "gaps", i);

		for (int w = 0; w < RP_WHATS; w++)
			if (is(r, "key", "call") && is(r, "what", rp_kinds[w].name))
				ok &= num(r, "total_ns") == n->calls[w];
	}
	return ok && sum == all;
}

static void every_nanosecond_has_its_part(void)
{
	static const char *const names[] = { "budget", "gaps", NULL };

	for (unsigned seed = 1; seed <= T_INPUTS(60u); seed++) {
		struct gt_reader *r = rp_make(&p, seed);
		struct naive n = { .from = INT64_MIN };
		json_t *j = report(r, names, &plain);

		n.from = first_start(&n, -1);
		for (int i = 0; i < p.nops; i++)
			n.to = p.ops[i].end > n.to ? p.ops[i].end : n.to;
		count(&n);
		CHECK(agree(j, &n));
		json_decref(j);
	}
}

static void scheduling_has_its_parts(void)
{
	rp_scheduled = true;
	every_nanosecond_has_its_part();
	rp_scheduled = false;
}

static int64_t begin_of_all(void)
{
	int64_t first = INT64_MAX;

	for (int i = 0; i < p.ncalls; i++)
		first = p.calls[i].start < first ? p.calls[i].start : first;
	for (int i = 0; i < p.nops; i++)
		first = p.ops[i].start < first ? p.ops[i].start : first;
	return first;
}

static int64_t end_of_all(void)
{
	int64_t last = 0;

	for (int i = 0; i < p.ncalls; i++)
		last = p.calls[i].end > last ? p.calls[i].end : last;
	for (int i = 0; i < p.nops; i++)
		last = p.ops[i].end > last ? p.ops[i].end : last;
	return last;
}

static void a_range_is_the_window(void)
{
	for (unsigned seed = 1; seed <= T_INPUTS(40u); seed++) {
		struct gt_reader *r = rp_make(&p, seed);
		struct naive n = { .cut = true };
		struct gt_analysis_options o = plain;
		json_t *j;

		n.cut_from = begin_of_all() + rp_below(4000);
		n.cut_to = n.cut_from + 500 + rp_below(6000);
		o.filter = (struct gt_filter){ .ranged = true, .from = n.cut_from, .to = n.cut_to };
		n.from = n.cut_from, n.to = n.cut_to < end_of_all() ? n.cut_to : end_of_all();
		j = report(r, (const char *[]){ "budget", "gaps", NULL }, &o);
		count(&n);
		CHECK(n.devices ? agree(j, &n) : noted(j, "budget", "cannot answer"));
		json_decref(j);
	}
}

/* Where the start or the end of a GPU operation is not recorded. */
static void half_a_range(void)
{
	for (unsigned seed = 1; seed <= T_INPUTS(40u); seed++) {
		struct gt_reader *r = rp_make(&p, seed);
		int64_t at = begin_of_all() + 1000 + rp_below(4000);
		struct naive n = { .cut = true,
			.cut_from = seed % 2 ? at : INT64_MIN,
			.cut_to = seed % 2 ? INT64_MAX : at };
		struct gt_analysis_options o = plain;
		json_t *j;

		o.filter = (struct gt_filter){ .ranged = true, .from = n.cut_from, .to = n.cut_to };
		n.from = seed % 2 ? at : first_start(&n, -1);
		n.to = seed % 2 ? 0 : at;
		for (int i = 0; i < p.nops && seed % 2; i++)
			n.to = seen(&n, &p.ops[i]) && p.ops[i].end > n.to ? p.ops[i].end : n.to;
		j = report(r, (const char *[]){ "budget", "gaps", NULL }, &o);
		count(&n);
		CHECK(n.devices ? agree(j, &n) : noted(j, "budget", "cannot answer"));
		json_decref(j);
	}
}

/* From the first row to the last one, which may be calls. */
static void the_whole_recording(void)
{
	for (unsigned seed = 1; seed <= T_INPUTS(40u); seed++) {
		struct gt_reader *r = rp_make(&p, seed);
		struct naive n = { .from = begin_of_all(), .to = end_of_all() };
		struct gt_analysis_options o = plain;
		json_t *j;

		o.whole = true;
		j = report(r, (const char *[]){ "budget", "gaps", NULL }, &o);
		count(&n);
		CHECK(agree(j, &n));
		json_decref(j);
	}
}

struct scan {
	struct gt_idle *s;
	struct gt_err *err;
};

static int on_run(void *arg, unsigned worker, const struct gt_cols *cols)
{
	struct scan *a = arg;

	return gt_idle_block(a->s, cols, a->err);
}

/* If two operations on a stream, or two calls, begin at the same time, their order is not
 * defined. */
static bool is_plain(void)
{
	for (int i = 0; i < p.ncalls; i++)
		for (int k = 0; k < i; k++)
			if (p.calls[i].start == p.calls[k].start &&
				p.calls[i].thread == p.calls[k].thread && !p.calls[i].depth &&
				!p.calls[k].depth)
				return false;
	for (int i = 0; i < p.nops; i++)
		for (int k = 0; k < i; k++)
			if (p.ops[i].start == p.ops[k].start &&
				p.ops[i].device == p.ops[k].device &&
				p.ops[i].stream == p.ops[k].stream)
				return false;
	return true;
}

/* ns of the cause by the shares of the host (host_shares.h). */
static double shared(const struct gt_idle *s, unsigned cause)
{
	double ns = cause == GT_IDLE_OUTSIDE ? (double)s->shares.sum.outside : 0;

	for (size_t i = 0; cause != GT_IDLE_OUTSIDE && i < s->shares.list.n; i++) {
		const struct gt_host_share *one = gt_group_table_at(&s->shares.list, i);

		ns += one->cause == cause ? (double)one->ns : 0;
	}
	return ns;
}

/* Streams hold a few launches, so that many calls find them full; in the count above any call
 * may. This test shows that those calls are found, that none is found in a gap that the call
 * itself ends, and that there are no others. */
static void full_queues(void)
{
	double all = 0;

	unsigned plain_ones = 0;

	for (unsigned seed = 1; seed <= T_INPUTS(200u); seed++) {
		struct naive n = { .room = 1 + (int)seed % 4 };
		struct gt_filter filter = { .kinds = GT_IDLE_WANTS, .args = true };
		struct gt_err err = GT_ERR_INIT;
		struct gt_reader *r = rp_make_queued(&p, seed, false, n.room);
		struct gt_idle s = { .full.room = (uint32_t)n.room };
		bool ok;

		ok = !gt_idle_init(&s, r, &plain, &err);
		gt_idle_want_shares(&s, true);
		ok = ok &&
			!gt_scan(r, &filter, GT_BY_TIME, 1, on_run, &(struct scan){ &s, &err },
				&err) &&
			!gt_idle_finish(&s, &err);
		n.from = first_start(&n, -1);
		for (int i = 0; i < p.nops; i++)
			n.to = p.ops[i].end > n.to ? p.ops[i].end : n.to;
		if (is_plain())
			count(&n), plain_ones++;
		for (unsigned c = 0; is_plain() && c < GT_IDLE_CAUSE_COUNT; c++) {
			double have = 0;

			for (size_t d = 0; d < s.ndevices; d++)
				have += (double)s.devices[d].cause[c];
			ok &= have == n.parts[GT_WORK_KINDS + c] && have == shared(&s, c);
			if (have != n.parts[GT_WORK_KINDS + c])
				printf("# seed %u: %s is %.0f, not %.0f\n", seed, gt_idle_key(c),
					have, n.parts[GT_WORK_KINDS + c]);
			all += c == GT_IDLE_FULL ? have : 0;
		}
		CHECK(ok);
		gt_idle_release(&s);
		gt_reader_close(r);
	}
	CHECK(all > T_INPUTS(1000) && plain_ones > T_INPUTS(20));
}

/* ---- known ---- */

/* Losses of both GPUs, of one, of a stream and of the process, in no order and one over the other,
 * against cells of 1 ns. */
static void losses_equal_brute_force(void)
{
	for (unsigned seed = 1; seed <= T_INPUTS(40u); seed++) {
		static char busy[2][4000], lost[2][4000];
		uint64_t want = 0, idle = 0;
		struct gpus g;
		json_t *j;

		srand(seed);
		memset(busy, 0, sizeof(busy));
		memset(lost, 0, sizeof(lost));
		gpus_begin(&g, "{\"events\":\"api,gpu\"}");
		for (int at = 1000; at < 3000; at += 50 + rand() % 300) {
			int ns = 1 + rand() % 60, gpu = at == 1000 ? 0 : rand() % 2;

			launched(&g, gpu, rand() % 2, at - 30, 10, at, at + ns);
			memset(&busy[gpu][at], 1, (size_t)ns);
		}
		for (int k = 0; k < 2; k++) { /* the same window for both */
			launched(&g, k, 0, 960, 10, 999, 1000);
			launched(&g, k, 0, 3400, 10, 3499, 3500);
			busy[k][999] = busy[k][3499] = 1;
		}
		for (int i = 0, n = rand() % 60; i < n; i++) {
			int what = rand() % 4, gpu = rand() % 2, from = rand() % 3500,
			    ns = rand() % (i % 9 ? 40 : 700);

			gt_writer_loss(g.w,
				what ? what == 1 ? GT_SCOPE_PROCESS : GT_SCOPE_TRACK : GT_SCOPE_ALL,
				what == 0           ? GT_NONE
					: what == 1 ? g.process
					: what == 2 ? g.device[gpu]
						    : g.stream[gpu][1],
				from, from + ns, 3, &g.err);
			memset(&lost[gpu][from], 1, (size_t)(from + ns < 4000 ? ns : 4000 - from));
			if (what < 2)
				memset(&lost[!gpu][from], 1,
					(size_t)(from + ns < 4000 ? ns : 4000 - from));
		}
		for (int k = 0; k < 2; k++)
			for (int at = 999; at < 3500; at++) {
				idle += !busy[k][at];
				want += !busy[k][at] && lost[k][at];
			}
		j = report(gpus_end(&g), (const char *[]){ "budget", NULL }, &plain);
		CHECK(part(j, "idle") == (double)idle && part(j, "lost") == (double)want);
		json_decref(j);
	}
}

/* ---- managed memory ---- */

enum { BUSY = 1, MOVES = 2, SPAN_NS = 4000 };

static void random_migrations(unsigned seed)
{
	static uint8_t at[SPAN_NS];
	double count[4] = { 0 };
	struct gpus g;
	json_t *j;

	srand(seed);
	memset(at, 0, sizeof(at));
	gpus_begin_with(&g, "{}", 1);
	gpus_plain(&g, 0, g.stream[0][0], 0, 1);
	at[0] = BUSY;
	for (int64_t i = 0, from = 0; i < 60; i++) {
		int64_t to = from + rand() % 200;
		bool moves = rand() % 2;

		to = to < SPAN_NS - 1 ? to : SPAN_NS - 1;
		if (moves)
			migrate(&g, GT_GPU_MIGRATION_HTOD, from, to);
		else
			gpus_plain(&g, 0, g.stream[0][i % 2], from, to);
		for (int64_t x = from; x < to; x++)
			at[x] |= moves ? MOVES : BUSY;
		from += rand() % 100;
	}
	gpus_plain(&g, 0, g.stream[0][0], SPAN_NS - 1, SPAN_NS);
	at[SPAN_NS - 1] = BUSY;
	for (int x = 0; x < SPAN_NS; x++)
		count[at[x]]++;
	j = report(gpus_end(&g), (const char *[]){ "budget", NULL }, &plain);
	CHECK(part(j, "compute") == count[BUSY] &&
		part(j, "compute_migrating") == count[BUSY | MOVES] &&
		part(j, "migration") == count[MOVES] && part(j, "unjoined") == count[0] &&
		shares(j) == SPAN_NS);
	json_decref(j);
}

static void migrations_equal_brute_force(void)
{
	for (unsigned seed = 0; seed < T_INPUTS(50u); seed++)
		random_migrations(seed);
}

T_MAIN(T(migrations_equal_brute_force), T(every_nanosecond_has_its_part),
	T(scheduling_has_its_parts), T(a_range_is_the_window), T(half_a_range),
	T(the_whole_recording), T(full_queues), T(losses_equal_brute_force))
