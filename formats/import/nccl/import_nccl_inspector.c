/* The JSON lines of NCCL's inspector, a profiler plugin (nccl: ext-profiler/inspector), of the
 * versions v4.0 to v4.3: one file for each process.
 *
 *      {"header":{"id":"0x7f8c496ae9f661","rank":2,"n_ranks":8,"nnodes":1},
 *       "metadata":{"inspector_output_format_version":"v4.0","git_rev":"","rec_mechanism":"...",
 *        "dump_timestamp_us":1748030377748202,"hostname":"node1","pid":1639453},
 *       "coll_perf":{"coll":"AllReduce","coll_sn":1407,"coll_msg_size_bytes":17179869184,
 *        "coll_exec_time_us":61974,"coll_timing_source":"kernel_gpu","coll_algobw_gbs":277.210914,
 *        "coll_busbw_gbs":485.119099,"event_trace_ts":{...}}}
 *
 * (each on one line). A point-to-point operation has "p2p_perf" with the prefix p2p_. From v4.1 on
 * a line with "dump_stats" comes before those that a communicator dumps at one time, and from v4.3
 * on only that line has header and metadata. Lines of proxies ("proxy_trace") are counted and
 * skipped.
 *
 * A collective is GPU work named after NCCL's function (ncclAllReduce), on a track for each
 * communicator and rank of a process. The duration is coll_exec_time_us. No line has a start:
 *
 *  - With event_trace_ts (NCCL_INSPECTOR_DUMP_VERBOSE=1) the work ends when the last channel of the
 *    kernel was found to have ended, by the clock of the host.
 *  - Without it the end is unknown. The work is placed as late as it can have been: it ends when
 * its line was dumped, or when the next one of the same dump begins, because the collectives of a
 *    communicator run one after the other. The metadata count these ("collectives_placed_late").
 *
 * v4.0 dumps only the last collective of each interval, and v4.1 those that its ring holds. Numbers
 * (coll_sn) count for each function of a communicator; in files without dump_stats a gap in them is
 * a loss, otherwise dump_stats has the number of lost ones.
 *
 * Memory: BATCH_MAX collectives of a dump, and a state for each communicator (GT_ROWS_TRACKS). */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "formats/base/buf.h"
#include "formats/base/map.h"
#include "formats/import/importers.h"
#include "formats/import/nccl/import_nccl_inspector.h"
#include "formats/io/json_build.h"
#include "formats/io/stream_in.h"

#define BATCH_MAX 65536u
#define SNIFF_TOKENS 400u
#define FUNCTIONS 16 /* whose numbers are compared */

struct communicator {
	uint64_t id; /* the key: id, rank, pid */
	int64_t rank, pid;
	int64_t dumped; /* the last time, ns; 0: never */
	/* the last number of a function by its name; -1 in number: none */
	struct {
		int64_t name, number;
	} last[FUNCTIONS];
	unsigned functions;
};
struct inspector {
	struct gt_inspector in;
	struct gt_map comm_map;
	struct communicator *comms;
	size_t ncomms, comms_cap;
	struct gt_inspector_operation *batch;
	size_t nbatch, batch_cap;
	struct gt_inspector_context now; /* of the last dump_stats */
	bool has_stats;                  /* there was one */
	uint32_t tracks;
	uint64_t placed_late, not_understood, proxies;
	int64_t first;
	char *metadata; /* of the first line, as a JSON object */
};

static const struct gt_rows_config config = {
	.importer = "nccl-inspector",
	.mode = GT_PAIR_BY_ID,
	.classify = gt_import_nccl_classify,
	.role = gt_import_nccl_role,
	.notes_lines = true,
};

static int no_memory(struct gt_err *err)
{
	return gt_err_set(err, -ENOMEM, "out of memory (import of NCCL inspector's file)");
}

/* ---- rows ---- */

/* The index of the communicator's state, or negative. */
static int64_t communicator_of(
	struct inspector *x, const struct gt_inspector_context *of, struct gt_err *err)
{
	struct communicator new = { .id = of->id, .rank = of->rank, .pid = of->pid };
	const size_t key = offsetof(struct communicator, dumped);
	uint32_t i = gt_map_find_item(&x->comm_map, x->comms, sizeof(new), &new, key);

	if (i == UINT32_MAX && x->ncomms == GT_ROWS_TRACKS)
		return gt_err_set(err, -E2BIG, "more than %u communicators", GT_ROWS_TRACKS);
	if (i == UINT32_MAX)
		i = gt_map_add_item(
			&x->comm_map, &x->comms, &x->ncomms, &x->comms_cap, sizeof(new), &new, key);
	return i == UINT32_MAX ? no_memory(err) : (int64_t)i;
}

static int64_t track_of(struct inspector *x, const struct gt_inspector_context *of, int64_t comm,
	struct gt_err *err)
{
	char name[80];

	snprintf(name, sizeof(name), "communicator 0x%" PRIx64 " rank %" PRId64, of->id, of->rank);
	return gt_import_nccl_stream(x->in.rows, x->in.w, &x->tracks, of->pid, comm, name, err);
}

static void add_real(struct inspector *x, const char *key, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	if (value >= 0)
		gt_rows_value(x->in.rows, key, GT_F_F64, bits);
}

static void add_args(struct inspector *x, const struct gt_inspector_operation *op)
{
	const struct {
		const char *key;
		int64_t value;
	} numbers[] = { { op->p2p ? "p2p_sn" : "sequence", op->number }, { "peer", op->peer },
		{ "rank", op->of.rank }, { "ranks", op->of.ranks }, { "nodes", op->of.nodes } };
	const struct {
		const char *key;
		uint32_t text;
	} texts[] = { { "timing", op->source }, { "algorithm", op->algo },
		{ "protocol", op->proto } };

	gt_rows_no_args(x->in.rows);
	gt_rows_value(x->in.rows, "communicator", GT_F_HEX, op->of.id);
	gt_rows_number(x->in.rows, "message_bytes", op->bytes);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		if (numbers[i].value >= 0)
			gt_rows_number(x->in.rows, numbers[i].key, (uint64_t)numbers[i].value);
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		if (texts[i].text != GT_NONE)
			gt_rows_value(x->in.rows, texts[i].key, GT_F_STR, texts[i].text);
	add_real(x, "algobw_gbs", op->algobw);
	add_real(x, "busbw_gbs", op->busbw);
}

/* A gap in the numbers of a function. */
static int note_gap(struct inspector *x, struct communicator *c,
	const struct gt_inspector_operation *op, uint32_t track, int64_t start, struct gt_err *err)
{
	unsigned i = 0;
	int64_t before;

	while (i < c->functions && c->last[i].name != op->name)
		i++;
	if (op->number < 0 || i == FUNCTIONS)
		return 0;
	before = i < c->functions ? c->last[i].number : op->number;
	c->functions += i == c->functions;
	c->last[i].name = op->name;
	c->last[i].number = op->number;
	if (x->has_stats || op->number - before < 2)
		return 0;
	return gt_writer_loss(x->in.w, GT_SCOPE_TRACK, gt_rows_track_id(x->in.rows, track),
		c->dumped && c->dumped < start ? c->dumped : start, start,
		(uint64_t)(op->number - before - 1), err);
}

static int put(struct inspector *x, const struct gt_inspector_operation *op, int64_t end,
	struct gt_err *err)
{
	int64_t ns = op->ns > 0 ? op->ns : 0, start = end > ns ? end - ns : 0,
		comm = communicator_of(x, &op->of, err),
		track = comm < 0 ? comm : track_of(x, &op->of, comm, err);
	int rc;

	if (track < 0)
		return (int)track;
	x->first = x->first && x->first < start ? x->first : start;
	rc = note_gap(x, &x->comms[comm], op, (uint32_t)track, start, err);
	x->comms[comm].dumped = op->of.dumped;
	add_args(x, op);
	return rc ? rc
		  : gt_import_nccl_put(
			    x->in.rows, (uint32_t)track, (uint32_t)op->name, start, end, NULL, err);
}

/* Places the collectives of a dump: see above. */
static int flush(struct inspector *x, struct gt_err *err)
{
	int64_t latest = INT64_MAX;
	int rc = 0;

	for (size_t i = x->nbatch; i-- > 0;) {
		struct gt_inspector_operation *op = &x->batch[i];
		int64_t end = op->of.dumped < latest ? op->of.dumped : latest;

		x->placed_late += !op->ended;
		op->ended = op->ended ? op->ended : end;
		latest = op->ns > 0 && op->ns < op->ended ? op->ended - op->ns : op->ended;
	}
	for (size_t i = 0; !rc && i < x->nbatch; i++)
		rc = put(x, &x->batch[i], x->batch[i].ended, err);
	x->nbatch = 0;
	return rc;
}

static bool is_same_dump(
	const struct gt_inspector_operation *a, const struct gt_inspector_operation *b)
{
	return a->of.id == b->of.id && a->of.rank == b->of.rank && a->of.pid == b->of.pid;
}

/* Without dump_stats each line is a dump of its own. */
static int add(struct inspector *x, const struct gt_inspector_operation *op, struct gt_err *err)
{
	int rc = 0;

	if (op->name < 0 || !op->of.has_id || (!op->of.dumped && !op->ended)) {
		x->not_understood++;
		return 0;
	}
	if (x->nbatch &&
		(!x->has_stats || x->nbatch == BATCH_MAX ||
			!is_same_dump(op, &x->batch[x->nbatch - 1])))
		rc = flush(x, err);
	if (rc)
		return rc;
	if (gt_grow(&x->batch, &x->batch_cap, x->nbatch + 1, sizeof(*x->batch)))
		return no_memory(err);
	x->batch[x->nbatch++] = *op;
	return 0;
}

/* ---- lines ---- */

/* What the first line says of the process. */
static int note_metadata(struct inspector *x, const struct gt_inspector_line *l, struct gt_err *err)
{
	const char *texts[2];
	json_t *o;

	if (x->metadata || !l->has_metadata)
		return 0;
	texts[0] = l->host == GT_NONE ? "" : gt_writer_text(x->in.w, l->host);
	texts[1] = l->version == GT_NONE ? "" : gt_writer_text(x->in.w, l->version);
	o = json_object();
	if (o) {
		json_object_set_new(o, "hostname", gt_json_text(texts[0], strlen(texts[0])));
		json_object_set_new(o, "version", gt_json_text(texts[1], strlen(texts[1])));
		x->metadata = gt_json_dump(o, 0);
		json_decref(o);
	}
	return x->metadata ? 0 : no_memory(err);
}

static int put_lost(struct inspector *x, const struct gt_inspector_line *l, struct gt_err *err)
{
	int64_t comm = communicator_of(x, &l->of, err), from, track;
	uint32_t id;

	if (comm < 0)
		return (int)comm;
	from = x->comms[comm].dumped;
	x->comms[comm].dumped = l->of.dumped;
	if (!l->lost)
		return 0;
	track = track_of(x, &l->of, comm, err);
	id = track < 0 ? GT_NONE : gt_rows_track_id(x->in.rows, (uint32_t)track);
	return track < 0 ? (int)track
			 : gt_writer_loss(x->in.w, GT_SCOPE_TRACK, id,
				   from && from < l->of.dumped ? from : l->of.dumped, l->of.dumped,
				   l->lost, err);
}

static int on_line(struct inspector *x, struct gt_inspector_line *l, struct gt_err *err)
{
	int rc = note_metadata(x, l, err);

	x->proxies += l->is_proxy;
	if (rc || l->is_proxy)
		return rc;
	if (l->has_stats) {
		rc = flush(x, err);
		x->has_stats = true;
		x->now = l->of;
		if (!rc && l->of.has_id && l->of.dumped)
			rc = put_lost(x, l, err);
	}
	if (rc || !l->has_op) {
		x->not_understood += !l->has_op && !l->has_stats;
		return rc;
	}
	l->op.of = l->has_header && l->has_metadata ? l->of : x->now;
	return add(x, &l->op, err);
}

static int read_lines(struct inspector *x, bool *truncated, struct gt_err *err)
{
	int t, rc = 0;

	while (!rc && (t = gt_json_next(x->in.j, err)) != GT_JSON_END) {
		struct gt_inspector_line l;

		if (t > 0 && t != GT_JSON_OBJECT)
			return gt_json_set_error(x->in.j, gt_json_offset(x->in.j) - 1, err,
				"expected one JSON object per line");
		rc = t < 0 ? t : gt_inspector_read(&x->in, &l, err);
		if (!rc)
			rc = on_line(x, &l, err);
	}
	*truncated = rc == -ENODATA;
	rc = *truncated ? 0 : rc;
	return rc ? rc : flush(x, err);
}

/* ---- the file ---- */

static int finish(struct inspector *x, bool truncated, struct gt_err *err)
{
	char start[48] = "", *json = NULL;
	int rc = gt_rows_finish(x->in.rows, truncated, err);

	if (x->first)
		gt_import_nccl_start(x->first, start);
	if (!rc &&
		asprintf(&json,
			"{\"gpu_work\":\"collectives\",\"nccl_inspector\":%s,\"collectives_placed_late\":%" PRIu64
			",\"events_not_understood\":%" PRIu64 ",\"proxy_events\":%" PRIu64 "%s}",
			x->metadata ? x->metadata : "{}", x->placed_late, x->not_understood,
			x->proxies, start) < 0)
		return no_memory(err);
	rc = rc ? rc : gt_writer_meta(x->in.w, json, err);
	free(json);
	return rc || !x->first ? rc : gt_import_nccl_anchor(x->in.w, x->first, err);
}

static int import(struct gt_in *in, struct gt_writer *w, struct gt_err *err)
{
	struct gt_err scan = GT_ERR_INIT; /* separate: an incomplete last line is no error */
	struct gt_json j;
	struct inspector x = { .in = { .w = w, .j = &j } };
	bool truncated = false;
	int rc = gt_json_init(&j, in, false, err);

	if (rc)
		return rc;
	x.in.rows = gt_rows_new(&config, w, err);
	rc = x.in.rows ? read_lines(&x, &truncated, &scan) : -ENOMEM;
	if (!rc)
		rc = finish(&x, truncated, err);
	else if (err && !err->code)
		*err = scan;
	if (rc == -E2BIG && err && err->offset == GT_NO_OFFSET)
		err->offset = gt_json_offset(&j);
	gt_rows_free(x.in.rows);
	gt_json_release(&j);
	gt_map_release(&x.comm_map);
	free(x.comms);
	free(x.batch);
	free(x.metadata);
	return rc;
}

static int sniff(const char *head, size_t len)
{
	static const struct {
		const char *key;
		unsigned depth;
	} words[] = { { "inspector_output_format_version", 2 }, { "header", 1 }, { "coll_perf", 1 },
		{ "p2p_perf", 1 }, { "dump_stats", 1 } };
	struct gt_in *in = gt_in_memory(head, len, NULL);
	unsigned found = 0, n = 0;
	struct gt_json j;
	int t = 1;

	if (in && !gt_json_init(&j, in, false, NULL)) {
		while (t > 0 && n++ < SNIFF_TOKENS) {
			t = gt_json_next(&j, NULL);
			for (unsigned i = 0; t == GT_JSON_KEY && i < 5; i++)
				if (j.depth == words[i].depth && gt_json_is(&j, words[i].key))
					found |= 1u << i;
		}
		gt_json_release(&j);
	}
	gt_in_close(in);
	return (found & 3) == 3 ? 95 : found & 1 || (found & 2 && found & 28) ? 85 : 0;
}

const struct gt_importer gt_import_nccl_inspector = {
	.name = "nccl-inspector",
	.help = "JSON lines of NCCL's inspector, a profiler plugin",
	.sniff = sniff,
	.import = import,
};
