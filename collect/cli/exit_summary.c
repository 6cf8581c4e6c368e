/* The trace is read to find the open calls, as gtanalyze reads it. The recorder only counts
 * them, and its count includes nested calls; a person wants the driver call, not the ioctl
 * inside it. The thread that a signal hit is not known. If one call was open in the program that
 * died, that call is the place to look at. */
#include "collect/cli/exit_summary.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include "formats/trace/read/reader.h"

struct open_calls {
	int64_t pid;    /* of the program */
	uint64_t n;     /* outermost ones */
	bool own;       /* the last one is the program's */
	char name[128]; /* of the last one */
};

static int take_open(void *arg, unsigned worker, const struct gt_cols *c)
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

static void ask(struct open_calls *o, const char *trace)
{
	struct gt_filter filter = { .kinds = GT_BIT(GT_OPEN) };
	struct gt_err err = GT_ERR_INIT;
	struct gt_reader *r = gt_reader_open(trace, &err);

	if (r)
		gt_scan(r, &filter, GT_ANY_ORDER, 1, take_open, o, &err);
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
		ask(&o, trace);
	if (!o.n)
		o.n = open;
	if (l->signal)
		snprintf(killed, sizeof(killed), "killed by %s",
			signal_name(l->signal, number, sizeof(number)));
	if (o.n == 1 && l->signal && o.own)
		snprintf(calls, sizeof(calls), " in %s", o.name);
	else if (o.n)
		snprintf(calls, sizeof(calls), "%s%" PRIu64 " call%s open at the end%s%s",
			l->signal ? ", " : "", o.n, o.n == 1 ? "" : "s",
			o.n == 1 && o.name[0] ? ": " : "", o.n == 1 ? o.name : "");
	snprintf(to, size, "%s%s", killed, calls);
}
