/* The open calls are read from the trace. The recorder only counts them, and its count includes
 * nested calls (the ioctl within a driver call). The thread that a signal killed is not known; but
 * if one call was open in the program that died, it is named. */
#define _GNU_SOURCE
#include "collect/cli/exit_summary.h"

#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>
#include "collect/cli/doctor.h"
#include "collect/cli/loss_messages.h"
#include "collect/cli/options.h"
#include "collect/correlate/gpu_correlate.h"
#include "formats/base/numbers.h"
#include "formats/text/printable.h"
#include "formats/trace/read/reader.h"

#define TOOL "gtcollect"
#define STATUS_EVERY (GT_SECOND / 2)

/* ---- how the program ended ---- */

struct open_calls {
	int64_t pid;    /* of the program */
	uint64_t n;     /* outermost open calls */
	bool own;       /* the last one read is of the program */
	char name[128]; /* of the last one */
};

static int count_open_call(void *arg, unsigned worker, const struct gt_cols *c)
{
	uint32_t process = gt_track_process(c->seg, c->track);
	struct open_calls *o = arg;

	for (uint32_t i = 0; i < c->n; i++) {
		if (c->depth && c->depth[i])
			continue;
		o->n++;
		o->own = process != GT_NONE && c->seg->tracks[process].id == o->pid;
		snprintf(o->name, sizeof(o->name), "%s",
			gt_type_name(c->seg, c->types[c->code ? c->code[i] : 0]));
	}
	return 0;
}

static void read_open_calls(struct open_calls *o, const char *trace)
{
	struct gt_filter filter = { .kinds = GT_BIT(GT_OPEN) };
	struct gt_err err = GT_ERR_INIT;
	struct gt_reader *r = gt_reader_open(trace, &err);

	if (r)
		gt_scan(r, &filter, GT_ANY_ORDER, 1, count_open_call, o, &err);
	gt_reader_close(r);
}

static const char *signal_name(int number, char *to, size_t size)
{
	static const struct {
		int number;
		const char *name;
	} names[] = {
#define SIGNAL(name) { SIG##name, "SIG" #name }
		SIGNAL(HUP),
		SIGNAL(INT),
		SIGNAL(QUIT),
		SIGNAL(ILL),
		SIGNAL(TRAP),
		SIGNAL(ABRT),
		SIGNAL(BUS),
		SIGNAL(FPE),
		SIGNAL(KILL),
		SIGNAL(USR1),
		SIGNAL(SEGV),
		SIGNAL(USR2),
		SIGNAL(PIPE),
		SIGNAL(ALRM),
		SIGNAL(TERM),
		SIGNAL(XCPU),
		SIGNAL(XFSZ),
		SIGNAL(SYS),
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (names[i].number == number)
			return names[i].name;
	snprintf(to, size, "signal %d", number);
	return to;
}

void gt_exit_describe(
	char *to, size_t size, const struct gt_child *l, uint64_t open, const char *trace)
{
	struct open_calls o = { .pid = l->pid };
	char number[32], calls[256] = "", killed[64] = "";

	if (open && trace)
		read_open_calls(&o, trace);
	if (!o.n)
		o.n = open;
	if (l->signal)
		snprintf(killed, sizeof(killed), "killed by %s",
			signal_name(l->signal, number, sizeof(number)));
	if (o.n == 1 && l->signal && o.own)
		snprintf(calls, sizeof(calls), " in %s", o.name);
	else if (o.n)
		snprintf(calls, sizeof(calls), "%s%" PRIu64 " call%s open at the end%s%s",
			l->signal ? ", " : "", o.n, gt_plural(o.n, "s"),
			o.n == 1 && o.name[0] ? ": " : "", o.n == 1 ? o.name : "");
	snprintf(to, size, "%s%s", killed, calls);
}

/* ---- parts of the lines ---- */

static char *size_text(char *to, size_t size, uint64_t bytes)
{
	if (bytes < 10000)
		snprintf(to, size, "%" PRIu64 " bytes", bytes);
	else if (bytes < 1 << 20)
		snprintf(to, size, "%.1f KiB", (double)bytes / 1024);
	else
		snprintf(to, size, "%.1f MiB", (double)bytes / (1 << 20));
	return to;
}

static double seconds(int64_t ns) { return (double)ns / GT_SECOND; }

static uint64_t events(const struct gt_recording *r)
{
	return r->stats->rows[GT_CALL] + r->totals->open;
}

static bool has_calls(const struct gt_recording *r)
{
	return r->stats->rows[GT_CALL] || r->totals->open;
}

/* Ranges and marks of the program. */
static uint64_t annotations(const struct gt_recording *r)
{
	return r->stats->rows[GT_SPAN] + r->stats->rows[GT_INSTANT] + r->stats->rows[GT_UNMATCHED] -
		r->totals->sched_rows - r->totals->samples;
}

static struct gt_losses losses(const struct gt_recording *r)
{
	return (struct gt_losses){ .totals = r->totals,
		.sources = r->sources,
		.verbose = gt_options.verbose,
		.cupti_only = gt_options_timing() == GT_TIMING_CUPTI };
}

/* ", 12 counter values" of each sampled source. Returns the sum of the rows. */
static uint64_t sampled_rows(const struct gt_recording *r, char *to, size_t size)
{
	struct gt_source_totals t;
	uint64_t rows = 0;
	size_t n = 0;

	to[0] = 0;
	for (unsigned i = 0; i < r->sources->n && n < size; i++) {
		gt_sources_totals(&r->sources->active[i], &t);
		rows += t.rows;
		n += (size_t)snprintf(to + n, size - n, "%" PRIu64 " %s%s, ", t.rows,
			r->sources->active[i].source->unit, gt_plural(t.rows, "s"));
	}
	return rows;
}

/* Quotes a file name as one word for a shell. '?', which matches any character, replaces a
 * character that cannot be printed. `to` has five times the size of the name. */
static void quote_for_shell(const char *name, char *to)
{
	static const char plain[] =
		"%+,-./0123456789:=@ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz";
	bool shown;

	to += sprintf(to, "%s", *name == '-' ? "./" : "");
	if (*name && !name[strspn(name, plain)]) {
		strcpy(to, name);
		return;
	}
	*to++ = '\'';
	for (size_t n; *name; name += n) {
		n = gt_printable_char(name, &shown);
		to += sprintf(to, *name == '\'' ? "'\\''" : shown ? "%.*s" : "'?'", (int)n, name);
	}
	strcpy(to, "'");
}

/* ---- the status line ---- */

static bool is_shown;

static void clear_status(void)
{
	if (is_shown)
		fputs("\r\033[K", stderr);
	is_shown = false;
}

static bool can_show_status(void)
{
	const char *term = getenv("TERM");

	return !gt_options.quiet && !gt_options.live && isatty(2) && term && *term &&
		strcmp(term, "dumb") && tcgetpgrp(2) == getpgrp();
}

/* Would a write to standard error return at once? It would not on a stopped terminal (Ctrl-S) or a
 * full pipe. */
static bool stderr_takes_text(void)
{
	struct pollfd p = { .fd = 2, .events = POLLOUT };

	return poll(&p, 1, 0) == 1;
}

/* A line that is wider than the terminal would wrap, and could not be cleared. */
static int columns(void)
{
	struct winsize w;

	return ioctl(2, TIOCGWINSZ, &w) || w.ws_col < 2 ? 79 : w.ws_col - 1;
}

void gt_status_line_show(const struct gt_recording *r, int64_t now)
{
	static int64_t shown_at;
	const struct gt_losses lost = losses(r);
	char size[32], line[160];

	shown_at = shown_at ? shown_at : r->start + STATUS_EVERY;
	if (now - shown_at < STATUS_EVERY || !can_show_status() || !stderr_takes_text())
		return;
	shown_at = now;
	snprintf(line, sizeof(line),
		"gtcollect: %.0f s, %" PRIu64 " event%s, %s, %" PRIu64 " lost, %u process%s",
		seconds(now - r->from), events(r), gt_plural(events(r), "s"),
		size_text(size, sizeof(size), r->stats->bytes), gt_losses_count(&lost),
		r->totals->processes, gt_plural(r->totals->processes, "es"));
	fprintf(stderr, "\r\033[K%.*s", columns(), line);
	is_shown = true;
}

/* ---- the last lines ---- */

/* Processes of eBPF may have made no call at all. */
static bool calls_are_deselected(const struct gt_recording *r)
{
	const struct gt_collect_options *o = &gt_options;
	bool by_library = gt_options_has_library() && !o->with_ebpf;

	return r->totals->processes && (by_library || o->filter.n || o->exclude.n || o->delay);
}

static void print_empty(const struct gt_recording *r)
{
	const struct gt_unrecorded_processes *m = &r->totals->unrecorded;
	const char *why = gt_doctor_command(r->program);
	char text[120];

	if (!why && gt_options.range)
		why = gt_options.nvtx_range
			? "the program never was inside that NVTX range (see --range)"
			: "the program did not call cuProfilerStart (see --range)";
	else if (!why && m->n[GT_UNRECORDED_LATE])
		why = "gtcollect did not respond when the program called the driver";
	else if (!why && m->n[GT_UNRECORDED_USER]) {
		snprintf(text, sizeof(text),
			"%s ran as user %u; gtcollect records programs of its own user, %u, only",
			m->comm, m->uid, (unsigned)geteuid());
		why = text;
	} else if (!why && r->had_no_ring)
		why = "the rings were too small for its threads; try a larger --ring-memory";
	else if (!why && annotations(r))
		why = "the program made none, or they were outside the selection (see -e, "
		      "--filter, --delay)";
	else if (!why && r->totals->processes && gt_options.via == GT_VIA_INJECT)
		why = "the process made none while it was recorded; a call that had begun before "
		      "is not seen";
	else if (!why && calls_are_deselected(r))
		why = "its calls to the driver were outside the selection (see -e, --filter, "
		      "--delay)";
	else if (!why && gt_options.via == GT_VIA_EBPF)
		why = "no process that was recorded mapped libcuda.so.1 and called it";
	else if (!why && !gt_doctor_libcuda())
		why = "there is no libcuda.so.1 where programs look for it; see gtcollect --doctor";
	else if (!why && gt_options.inject)
		why = "it never called cuInit, or what called it had CUDA_INJECTION64_PATH taken "
		      "out of its environment";
	else if (!why)
		why = "it never loaded libcuda.so.1 or never called it, or what called it had "
		      "LD_PRELOAD taken out of its environment; "
		      "see gtcollect --doctor";
	gt_message(stderr, TOOL, "no CUDA call was seen: %s", why);
}

static void print_failure(const struct gt_recording *r)
{
	char size[32];

	gt_err_print(TOOL, r->path, r->failure);
	if (r->failure->code == -ECANCELED)
		gt_message(stderr, TOOL,
			"%s were written; everything after %.2f s is missing, "
			"and perhaps a part of the second before",
			size_text(size, sizeof(size), r->stats->bytes),
			seconds(r->stalled - r->start));
	else if (r->failure->code != -ENOENT)
		gt_message(stderr, TOOL,
			"recording stopped after %.2f s; the program continued; what the file "
			"holds can be read",
			seconds(r->stop - r->start));
}

static const char *losses_text(const struct gt_recording *r, char *to, size_t size)
{
	const struct gt_recorder_totals *t = r->totals;
	const struct gt_losses all = losses(r);
	uint64_t lost = gt_losses_count(&all);
	unsigned missing = t->unrecorded.n[GT_UNRECORDED_LATE] +
		t->unrecorded.n[GT_UNRECORDED_USER] + (unsigned)t->process_losses.unrecorded;

	if (t->broken)
		return "an unknown number LOST";
	if (lost)
		snprintf(to, size, "%" PRIu64 " LOST", lost);
	else if (missing)
		snprintf(to, size, "%u process%s MISSING", missing, gt_plural(missing, "es"));
	else
		return (t->gpu && t->processes &&
			       (!t->gpu->processes || t->gpu->refused || t->gpu->yields ||
				       t->gpu->without_record)) ||
				t->process_losses.unprobed || t->process_losses.events
			? "no calls lost"
			: "no losses";
	return to;
}

/* Prints file, size, events, processes, losses, duration, how the program ended, and the next
 * command if there is something to analyze. */
static void print_file(const struct gt_recording *r, bool empty)
{
	const struct gt_recorder_totals *t = r->totals;
	static char name[5 * PATH_MAX];
	char size[32], lost[48], ending[320], values[160], work[48] = "", ranges[64] = "",
							   scheduling[48] = "", samples[48] = "";
	struct stat st;
	bool file = !stat(r->path, &st) && S_ISREG(st.st_mode);

	sampled_rows(r, values, sizeof(values));
	if (t->gpu && t->processes)
		snprintf(work, sizeof(work), "%" PRIu64 " GPU operation%s, ",
			r->stats->rows[GT_GPU], gt_plural(r->stats->rows[GT_GPU], "s"));
	if (!has_calls(r) && annotations(r))
		snprintf(ranges, sizeof(ranges), "%" PRIu64 " %s, ", annotations(r),
			annotations(r) == 1 ? "range or mark" : "ranges and marks");
	if (t->sched_rows)
		snprintf(scheduling, sizeof(scheduling), "%" PRIu64 " scheduler row%s, ",
			t->sched_rows, gt_plural(t->sched_rows, "s"));
	if (t->samples)
		snprintf(samples, sizeof(samples), "%" PRIu64 " sample%s, ", t->samples,
			gt_plural(t->samples, "s"));
	gt_exit_describe(ending, sizeof(ending), r->child, t->open, file ? r->path : NULL);
	quote_for_shell(r->path, name);
	gt_message(stderr, TOOL,
		"%s%s: %s, %" PRIu64 " event%s, %s%s%s%s%s%u process%s, %s, %.2f s%s%s%s%s",
		r->simulated ? "simulated GPU: " : "", name,
		size_text(size, sizeof(size), file ? (uint64_t)st.st_size : r->stats->bytes),
		events(r), gt_plural(events(r), "s"), ranges, scheduling, samples, work, values,
		t->processes, gt_plural(t->processes, "es"), losses_text(r, lost, sizeof(lost)),
		seconds(r->stop - r->from), *ending ? "; " : "", ending,
		empty                       ? ""
			: gt_options.report ? "; next: gtview "
					    : "; next: gtanalyze ",
		empty ? "" : name);
}

bool gt_exit_has_events(const struct gt_recording *r)
{
	char text[160];

	return has_calls(r) || annotations(r) || sampled_rows(r, text, sizeof(text));
}

void gt_exit_summary_print(const struct gt_recording *r)
{
	const struct gt_recorder_totals *t = r->totals;
	const struct gt_losses all = losses(r);

	if (!stderr_takes_text())
		gt_child_restore_signals(); /* a signal ends gtcollect if the writes block */
	clear_status();
	if (r->failure->code)
		print_failure(r);
	if (r->failure->code || gt_options.quiet)
		return;
	gt_losses_print(&all, TOOL, stderr);
	print_file(r, !gt_exit_has_events(r));
	/* a program with probes of the user's choice may have nothing to do with CUDA */
	if (!has_calls(r) && !(gt_options_has_probes() && annotations(r)) &&
		(r->has_gates ||
			(!r->sources->n && !gt_options_attach() &&
				gt_sources_of_guest(gt_options.named_events))))
		print_empty(r);
	if (!gt_options.verbose)
		return;
	gt_sources_report(r->sources, TOOL, stderr);
	gt_message(stderr, TOOL,
		"%u thread%s, %" PRIu64 " call%s left out by --sample, clock error at most %u ns",
		t->threads, gt_plural(t->threads, "s"), t->sampled_out,
		gt_plural(t->sampled_out, "s"), t->clock_error);
}
