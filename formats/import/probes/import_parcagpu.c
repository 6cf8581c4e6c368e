/* Kernels as bpftrace prints them from the USDT probes of parcagpu (parca-dev/parcagpu:
 * parcagpu.bt). The script of today prints a line for each kernel, with the columns of its header:
 *
 *      TIME  DURATION_NS  CORR_ID  DEVICE  STREAM  GRAPH  NODE  START  KERNEL
 *      10:15:30    .123456 10240  42  0  7  0  0  1790000000000000000 _Z4gemmPf
 *      10:15:30    .123401 [CORR] 42: cbid=211 cudaLaunchKernel_v7000
 *
 * The script of its first version prints four lines for each, and also for graphs:
 *
 *      [4711] Kernel executed:
 *        start=1790000000000000000, end=1790000000000010240, duration=10240 ns
 *        correlationId=42, deviceId=0, streamId=7
 *        name=_Z4gemmPf
 *
 * A kernel has its start and end, by CUPTI's clock. The time at the beginning of a line has no use:
 * it has the second of the day, and a fraction of another clock. So a call has no row; its name is
 * an argument of the kernels that have its correlation id. All other lines are skipped and counted;
 * bpftrace's lost events are a loss between the kernels around them. The output of
 * test/bpf/activity_parser has durations without a time, and is refused.
 *
 * Memory: the names of the last CALLS calls. */
#define _GNU_SOURCE
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "formats/import/probes/import_gpu_probes.h"
#include "formats/import/importers.h"
#include "formats/io/text_lines.h"

#define CALLS (1u << 16) /* a power of two */
#define SNIFF_LINES 60
#define REALTIME_FROM                                                                              \
	((int64_t)1000000000 * 1000000000) /* ns: smaller times are of another clock */

enum column { DURATION, CORRELATION, DEVICE, STREAM, GRAPH, NODE, START, COLUMNS };

struct kernel {
	uint64_t v[COLUMNS];
	uint64_t end;
	uint64_t pid;
	bool graph, open; /* open: of several lines, of which some are to come */
};
struct parcagpu {
	struct gt_import_rows *rows;
	struct gt_writer *w;
	struct kernel now;
	struct call {
		uint64_t correlation;
		uint32_t name; /* string id plus 1; 0: there is no call */
	} * calls;
	uint64_t lines, kernels, skipped, timeless, lost;
	int64_t first, last;
};

static const struct gt_rows_config config = {
	.importer = "parcagpu",
	.mode = GT_PAIR_BY_ID,
	.classify = gt_probe_classify,
	.role = gt_probe_role,
	.notes_lines = true,
};

/* ---- kernels ---- */

static void add_args(struct parcagpu *p, const struct kernel *k)
{
	const struct call *call = &p->calls[k->v[CORRELATION] % CALLS];

	gt_rows_no_args(p->rows);
	gt_rows_number(p->rows, "correlation", k->v[CORRELATION]);
	if (k->v[GRAPH])
		gt_rows_number(p->rows, "graph", k->v[GRAPH]);
	if (k->v[NODE])
		gt_rows_number(p->rows, "node", k->v[NODE]);
	if (call->name && call->correlation == k->v[CORRELATION])
		gt_rows_value(p->rows, "call", GT_F_STR, call->name - 1);
}

static int put_lost(struct parcagpu *p, int64_t until, struct gt_err *err)
{
	uint64_t lost = p->lost;

	p->lost = 0;
	return lost ? gt_writer_loss(p->w, GT_SCOPE_ALL, GT_NONE,
			      p->last && p->last < until ? p->last : until, until, lost, err)
		    : 0;
}

static int put_kernel(
	struct parcagpu *p, const struct kernel *k, const char *name, struct gt_err *err)
{
	int64_t start = (int64_t)k->v[START], track;
	int rc;

	if (k->v[START] > GT_ROWS_TIME_MAX || k->end > GT_ROWS_TIME_MAX || k->end < k->v[START] ||
		!k->v[START]) {
		p->skipped++;
		return 0;
	}
	track = gt_probe_stream(p->rows, (int64_t)k->pid, (int64_t)(k->v[DEVICE] & INT32_MAX),
		(int64_t)(k->v[STREAM] & INT64_MAX), err);
	if (track < 0)
		return (int)track;
	rc = put_lost(p, start, err);
	if (rc)
		return rc;
	add_args(p, k);
	p->kernels++;
	p->first = p->first && p->first < start ? p->first : start;
	p->last = start;
	return gt_probe_work(p->rows, k->graph ? GT_PROBE_GRAPH : GT_PROBE_KERNEL, (uint32_t)track,
		k->graph        ? "graph"
			: *name ? name
				: "?",
		start, (int64_t)k->end, err);
}

/* ---- lines ---- */

static const char *past_blanks(const char *p)
{
	while (*p == ' ')
		p++;
	return p;
}

/* The text behind the time at the beginning of a line: "10:15:30    .123456 ". NULL: there is none.
 */
static const char *past_time(const char *p)
{
	for (int i = 0; i < 8; i++)
		if (i % 3 == 2 ? p[i] != ':' : !isdigit((unsigned char)p[i]))
			return NULL;
	p = past_blanks(p + 8);
	if (*p != '.')
		return NULL;
	p++;
	p += strspn(p, "0123456789");
	return *p == ' ' ? past_blanks(p) : NULL;
}

/* The columns of a kernel; the rest of the line is its name. */
static bool is_kernel(const char *p, struct kernel *k, const char **name)
{
	for (unsigned i = 0; i < COLUMNS; i++) {
		const char *after;

		if (!gt_text_number(p, "", &k->v[i], &after) || *after != ' ')
			return false;
		p = past_blanks(after);
	}
	*name = p;
	return !__builtin_add_overflow(k->v[START], k->v[DURATION], &k->end);
}

/* "[CORR] 42: cbid=211 cudaLaunchKernel_v7000" */
static bool note_call(struct parcagpu *p, const char *text)
{
	uint64_t correlation;
	const char *name;
	struct call *call;
	uint32_t id;

	if (!gt_text_number(text, "[CORR] ", &correlation, &name))
		return false;
	name = strstr(name, " cbid=") ? strchr(strstr(name, " cbid=") + 1, ' ') : NULL;
	if (!name || !name[1] || !gt_writer_has_name_space(p->w))
		return true;
	id = gt_writer_string(p->w, name + 1);
	call = &p->calls[correlation % CALLS];
	call->correlation = correlation;
	call->name = id == GT_NONE ? 0 : id + 1;
	return true;
}

/* A value of the lines of the first version. */
static bool read_value(const char *line, const char *word, uint64_t *to)
{
	const char *at = strstr(line, word);

	return at && gt_text_number(at, word, to, NULL);
}

/* The lines of the first version: 1: it is one of them; 0; or negative. */
static int read_block(struct parcagpu *p, const char *line, struct gt_err *err)
{
	struct kernel *k = &p->now;
	const char *after;
	uint64_t pid;

	if (gt_text_number(line, "[", &pid, &after)) {
		bool kernel = !strcmp(after, "] Kernel executed:"),
		     graph = !strcmp(after, "] Graph executed:");

		if (kernel || graph)
			*k = (struct kernel){
				.pid = pid & INT32_MAX, .graph = graph, .open = true
			};
		return kernel || graph;
	}
	if (!k->open || line[0] != ' ')
		return 0;
	if (read_value(line, "  start=", &k->v[START]))
		return read_value(line, " end=", &k->end);
	if (read_value(line, "  correlationId=", &k->v[CORRELATION])) {
		read_value(line, " deviceId=", &k->v[DEVICE]);
		read_value(line, " streamId=", &k->v[STREAM]);
		read_value(line, " graphId=", &k->v[GRAPH]);
		if (!k->graph)
			return 1;
	} else if (strncmp(line, "  name=", 7)) {
		return 0;
	}
	k->open = false;
	return put_kernel(p, k, k->graph ? "" : line + 7, err) ?: 1;
}

static bool is_activity(const char *line)
{
	return !strncmp(line, "kernel: name=", 13) && strstr(line, " duration=");
}

static int on_line(void *arg, char *line, size_t len, struct gt_err *err)
{
	struct parcagpu *p = arg;
	const char *text = past_time(line), *name;
	uint64_t lost = gt_text_lost_events(line);
	struct kernel k = { 0 };
	int rc;

	p->lines++;
	p->lost += lost;
	if (lost || (text && note_call(p, text)))
		return 0;
	if (text && is_kernel(text, &k, &name))
		return put_kernel(p, &k, name, err);
	rc = read_block(p, line, err);
	p->timeless += is_activity(line);
	p->skipped += !rc && len;
	return rc < 0 ? rc : 0;
}

/* ---- the file ---- */

static int finish(struct parcagpu *p, bool unfinished, struct gt_err *err)
{
	struct gt_anchor a = { p->first, p->first, (uint64_t)p->first, 0 };
	char json[64];
	int rc;

	if (!p->kernels && p->timeless)
		return gt_err_set(err, -EILSEQ,
			"parcagpu's output without times (activity_parser): record it with bpftrace parcagpu.bt");
	rc = put_lost(p, p->last, err);
	rc = rc ? rc : gt_rows_finish(p->rows, unfinished, err);
	snprintf(json, sizeof(json), "{\"lines_skipped\":%" PRIu64 "}", p->skipped);
	rc = rc ? rc : gt_writer_meta(p->w, json, err);
	return rc || p->first < REALTIME_FROM ? rc : gt_writer_anchor(p->w, &a, err);
}

static int import(struct gt_in *in, struct gt_writer *w, struct gt_err *err)
{
	struct parcagpu p = { .w = w, .calls = calloc(CALLS, sizeof(*p.calls)) };
	bool unfinished = false;
	int rc = 0;

	if (!p.calls)
		return gt_err_set(err, -ENOMEM, "out of memory (import of parcagpu's output)");
	p.rows = gt_rows_new(&config, w, err);
	rc = p.rows ? gt_text_each_line(in, on_line, &p, &unfinished, err) : -ENOMEM;
	if (!rc)
		rc = finish(&p, unfinished, err);
	gt_rows_free(p.rows);
	free(p.calls);
	return rc;
}

/* How sure a line is parcagpu's. */
static int sniff_line(const char *line, void *arg)
{
	const char *text = past_time(line), *name;
	struct kernel k;

	if (strstr(line, "via parcagpu USDT probes") || strstr(line, "Monitoring parcagpu USDT") ||
		(strstr(line, "DURATION_NS") && strstr(line, "CORR_ID")))
		return 95;
	if (text && (is_kernel(text, &k, &name) || !strncmp(text, "[CORR] ", 7)))
		return 85;
	if (is_activity(line) && strstr(line, " corr="))
		return 70;
	return *line == '[' && strstr(line, "] Kernel executed:") ? 80 : 0;
}

static int sniff(const char *head, size_t len)
{
	return gt_text_first_lines(head, len, SNIFF_LINES, sniff_line, NULL);
}

const struct gt_importer gt_import_parcagpu = {
	.name = "parcagpu",
	.help = "kernels that bpftrace prints from parcagpu's probes (parcagpu.bt)",
	.sniff = sniff,
	.import = import,
};
