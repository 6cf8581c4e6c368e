#include "collect/cli/loss_messages.h"

#include "collect/cli/options.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>
#include "collect/correlate/gpu_correlate.h"
#include "formats/base/numbers.h"
#include "formats/text/printable.h"
#include "formats/trace/clock.h"

static uint64_t untimed(const struct gt_gpu_totals *g)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < GT_UNTIMED_COUNT; i++)
		n += g->untimed[i];
	return n;
}

/* Records of GPU work that became no rows. */
static uint64_t gpu_losses(const struct gt_recorder_totals *t)
{
	return t->gpu ? t->gpu->dropped + t->gpu->foreign + t->gpu->impossible + t->gpu_lost +
			untimed(t->gpu)
		      : 0;
}

static uint64_t sources_count(const struct gt_sources *own)
{
	struct gt_source_totals t;
	uint64_t n = 0;

	for (unsigned i = 0; i < own->n; i++) {
		gt_sources_totals(&own->active[i], &t);
		n += t.lost + t.failed;
	}
	return n;
}

uint64_t gt_losses_count(const struct gt_losses *l)
{
	const struct gt_recorder_totals *t = l->totals;

	return t->dropped + t->untraced + t->own_untraced + t->own_dropped + t->cpu_lost + t->deep +
		t->abandoned + t->in_handler + t->nameless + gpu_losses(t) +
		sources_count(l->sources);
}

static void print_gpu_records(const struct gt_recorder_totals *t, const char *program, FILE *to)
{
	const struct gt_gpu_totals *g = t->gpu;
	const struct {
		uint64_t n;
		const char *how;
	} lost[] = {
		{ g->dropped, "dropped by CUPTI" },
		{ t->gpu_lost, "dropped because a ring was full" },
		{ g->foreign, "in another profiler's clock" },
		{ g->impossible, "with impossible times" },
	};
	const char *before = ": records of GPU work lost:";

	for (size_t i = 0; i < sizeof(lost) / sizeof(*lost); i++)
		if (lost[i].n) {
			fprintf(to, "%s%s %" PRIu64 " %s", *before == ',' ? "" : program, before,
				lost[i].n, lost[i].how);
			before = ",";
		}
	if (*before == ',')
		fputc('\n', to);
}

/* The GPU work that the file lacks. When a process is killed, the records that CUPTI has not
 * delivered are lost. */
static void print_gpu(const struct gt_losses *l, const char *program, FILE *to)
{
	const struct gt_gpu_totals *g = l->totals->gpu;

	/* beside eBPF, which sees all processes, the library is only in those that call CUDA */
	if (!g->processes && l->totals->processes && !(gt_options.with_ebpf && !*g->state))
		gt_message(to, program, "-e gpu: no GPU work was recorded: %s%s",
			*g->state ? g->state : "no GPU was reported",
			*g->state && l->cupti_only ? "; --gpu-timing events needs no CUPTI" : "");
	else if (g->refused)
		gt_message(to, program,
			"-e gpu: in %u process%s no GPU work was recorded, "
			"because CUPTI is missing or refused",
			g->refused, gt_plural(g->refused, "es"));
	if (g->yields)
		gt_message(to, program,
			"-e gpu: %s used CUPTI for %.2f s%s: the GPU work of that time is missing",
			g->other, (double)g->cupti_absent_ns / GT_SECOND,
			g->yields > g->resumed ? ", to the end" : "");
	if (*g->without)
		gt_message(to, program, "-e gpu: not recorded: %s", g->without);
	if (g->no_calls)
		gt_message(to, program,
			"--%s: in %u process%s no calls were recorded: "
			"CUPTI is missing, or another tool has subscribed to it",
			gt_options.via == GT_VIA_INJECT ? "via inject" : "inject", g->no_calls,
			gt_plural(g->no_calls, "es"));
	if (g->by_events)
		gt_message(to, program,
			"-e gpu: times of GPU work are those of CUDA events, %s: upper bounds, "
			"see gtcollect(1)",
			strstr(g->state, "as asked for") ? "as asked for"
							 : "because CUPTI is missing or refused");
	if (untimed(g))
		gt_message(to, program,
			"%" PRIu64 " %s no GPU time: for %" PRIu64
			" no CUDA event was available, %" PRIu64
			" were called while a capture began, %" PRIu64
			" belonged to a destroyed context, %" PRIu64 " failed",
			untimed(g),
			untimed(g) == 1 ? "launch, copy or set has"
					: "launches, copies and sets have",
			g->untimed[GT_UNTIMED_POOL], g->untimed[GT_UNTIMED_CAPTURE],
			g->untimed[GT_UNTIMED_CONTEXT], g->untimed[GT_UNTIMED_ERROR]);
	print_gpu_records(l->totals, program, to);
	if (g->without_record)
		gt_message(to, program, "%" PRIu64 " %s no GPU record: %s", g->without_record,
			g->without_record == 1 ? "launch, copy or set has"
					       : "launches, copies and sets have",
			g->by_events
				? "they had not ended, or their events were not read yet"
				: "they failed, or the process or the recording ended before CUPTI delivered "
				  "the records");
}

static void print_processes(const struct gt_unrecorded_processes *m, const char *program, FILE *to)
{
	if (m->n[GT_UNRECORDED_LATE])
		gt_message(to, program,
			"%u process%s not recorded: gtcollect did not respond for 10 s when %s "
			"started",
			m->n[GT_UNRECORDED_LATE], gt_plural(m->n[GT_UNRECORDED_LATE], "es"),
			m->n[GT_UNRECORDED_LATE] == 1 ? "it" : "they");
	if (m->n[GT_UNRECORDED_USER])
		gt_message(to, program,
			"%u process%s (%s) ran as user %u and %s not recorded: "
			"gtcollect records its own user, %u, only",
			m->n[GT_UNRECORDED_USER], gt_plural(m->n[GT_UNRECORDED_USER], "es"),
			m->comm, m->uid, m->n[GT_UNRECORDED_USER] == 1 ? "was" : "were",
			(unsigned)geteuid());
}

/* "12 samples lost ...". */
static void print_count(
	uint64_t n, const char *unit, const char *what, const char *program, FILE *to)
{
	if (n)
		gt_message(to, program, "%" PRIu64 " %s%s %s", n, unit, gt_plural(n, "s"), what);
}

static void print_calls(const struct gt_recorder_totals *t, const char *program, FILE *to)
{
	const struct {
		uint64_t n;
		const char *one, *many, *what;
	} losses[] = {
		{ t->dropped, "call", "calls",
			"lost because rings were full: try a larger --ring-memory, or --lossless" },
		{ t->untraced, "call", "calls",
			"not recorded, because threads got no ring: try a larger --ring-memory" },
		{ t->own_dropped, "scheduler row or call", "scheduler rows and calls",
			"lost because rings were full: try a larger --ring-memory" },
		{ t->unseen_waits, "wait of a thread is", "waits of threads are",
			"not recorded, because the kernel did not report their end" },
		{ t->cpu_lost - t->unseen_waits, "record", "records",
			"lost because the rings of processors were full: try a larger --ring-memory" },
		{ t->process_losses.unrecorded, "time", "times",
			"a process is not recorded, because eBPF records as many as it can at the same time: record fewer (-p, or a filter of -a)" },
		{ t->process_losses.unprobed, "time", "times",
			"a process has its probes late or not at all, because too many start at the same time" },
		{ t->process_losses.events, "start or end of a process has",
			"starts and ends of processes have",
			"no record, because rings were full: try a larger --ring-memory" },
		{ t->unsampled.refused, "thread has", "threads have",
			"no samples, because the kernel has made no timer (ulimit -i limits them)" },
		{ t->unsampled.blocked, "thread has", "threads have",
			"no samples while signals are blocked there: this time has samples without a stack, or none" },
		{ t->unsampled.taken, "process has", "processes have",
			"no further samples, because the program uses the signal of the timers: try again, as the signal is chosen at random" },
		{ t->unsampled.limited, "process has", "processes have",
			"no further samples, because the program limits its own system calls (seccomp), for which it could be killed" },
		{ t->unhelped, "process has", "processes have",
			"incomplete stacks of native code, because the library could not start its thread there (ulimit -u, or a seccomp profile)" },
		{ t->deep, "call has", "calls have", "no record: nested too deep" },
		{ t->nameless, "call", "calls", "lost because the trace's dictionary is full" },
		{ t->abandoned, "call has", "calls have",
			"no record: left by longjmp or an exception" },
		{ t->in_handler, "call in a signal handler has", "calls in signal handlers have",
			"no record: the handler interrupted the writing of another record" },
		{ t->broken, "ring is", "rings are",
			"no longer read: the program overwrote ring memory" },
	};

	if (t->own_untraced)
		gt_message(to, program,
			"%" PRIu64
			" scheduler row%s or call%s not recorded, because there was memory for %u threads at the same time: try a larger --ring-memory",
			t->own_untraced, gt_plural(t->own_untraced, "s"),
			gt_plural(t->own_untraced, "s"), t->own_slots);
	for (size_t i = 0; i < sizeof(losses) / sizeof(*losses); i++)
		if (losses[i].n)
			gt_message(to, program, "%" PRIu64 " %s %s", losses[i].n,
				losses[i].n == 1 ? losses[i].one : losses[i].many, losses[i].what);
}

static void print_sources(const struct gt_losses *l, const char *program, FILE *to)
{
	for (unsigned i = 0; i < l->sources->n; i++) {
		const char *unit = l->sources->active[i].source->unit;
		struct gt_source_totals t;

		gt_sources_totals(&l->sources->active[i], &t);
		print_count(t.lost, unit, "lost on the way to the file", program, to);
		if (!l->verbose)
			print_count(t.failed, unit, "could not be read; -v says why", program, to);
	}
}

static void print_symbols(const struct gt_native_symbols_missing *m, const char *program, FILE *to)
{
	if (m->replaced)
		gt_message(to, program,
			"native functions of %u librar%s have no names: the file has another build id now; gtanalyze --symbols can name them",
			m->replaced, m->replaced == 1 ? "y" : "ies");
	if (m->without_lines)
		gt_message(to, program,
			"--lines: lines of %u librar%s are missing: there was no more time, or the debug data are damaged or too large for the memory; gtanalyze --symbols can read them later",
			m->without_lines, m->without_lines == 1 ? "y" : "ies");
}

void gt_losses_print(const struct gt_losses *l, const char *program, FILE *to)
{
	const struct gt_recorder_totals *t = l->totals;

	if (t->gpu)
		print_gpu(l, program, to);
	print_processes(&t->unrecorded, program, to);
	print_calls(t, program, to);
	print_sources(l, program, to);
	print_symbols(&t->symbols_missing, program, to);
	if (t->nunknown_functions && l->verbose)
		for (size_t i = 0; i < t->nunknown_functions; i++)
			gt_message(to, program, "not traced, unknown to this version of gt: %s",
				t->unknown_functions[i].name);
	else if (t->nunknown_functions)
		gt_message(to, program,
			"%zu driver function%s not traced, unknown to this version of gt; -v lists them",
			t->nunknown_functions, gt_plural(t->nunknown_functions, "s"));
}
