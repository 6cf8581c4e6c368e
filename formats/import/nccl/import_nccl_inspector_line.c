/* Reads a line of NCCL's inspector: an object of objects, whose keys may have any order. Unknown
 * keys are skipped, and a value of another kind than expected counts as unknown. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "formats/import/nccl/import_nccl_inspector.h"

#define TIME_MAX_US (GT_ROWS_TIME_MAX / 1000)

/* Reads a value of one of the objects of a line. token: the first one of the value. */
typedef void member_fn(
	struct gt_inspector *x, struct gt_inspector_line *l, const char *key, int token);

static bool whole(const struct gt_inspector *x, int token, int64_t *to)
{
	return token == GT_JSON_INT && !gt_json_scale(x->j->text, x->j->len, 0, to);
}

static void read_header(
	struct gt_inspector *x, struct gt_inspector_line *l, const char *key, int token)
{
	char hex[24] = "", *end;

	l->has_header = true;
	if (!strcmp(key, "id") && token == GT_JSON_STRING && x->j->len < sizeof(hex)) {
		memcpy(hex, x->j->text, x->j->len);
		l->of.id = strtoull(hex, &end, 16);
		l->of.has_id = end > hex && !*end;
	} else if (!strcmp(key, "rank")) {
		whole(x, token, &l->of.rank);
	} else if (!strcmp(key, "n_ranks")) {
		whole(x, token, &l->of.ranks);
	} else if (!strcmp(key, "nnodes")) {
		whole(x, token, &l->of.nodes);
	}
}

static uint32_t text_of(struct gt_inspector *x)
{
	return gt_writer_has_name_space(x->w) ? gt_writer_string_n(x->w, x->j->text, x->j->len)
					      : GT_NONE;
}

static void read_metadata(
	struct gt_inspector *x, struct gt_inspector_line *l, const char *key, int token)
{
	int64_t us;

	l->has_metadata = true;
	if (!strcmp(key, "dump_timestamp_us") && whole(x, token, &us) && us > 0 && us < TIME_MAX_US)
		l->of.dumped = us * 1000;
	else if (!strcmp(key, "pid"))
		whole(x, token, &l->of.pid);
	else if (!strcmp(key, "hostname") && token == GT_JSON_STRING)
		l->host = text_of(x);
	else if (!strcmp(key, "inspector_output_format_version") && token == GT_JSON_STRING)
		l->version = text_of(x);
}

static void read_stats(
	struct gt_inspector *x, struct gt_inspector_line *l, const char *key, int token)
{
	bool is_loss = !strcmp(key, "coll_dropped_since_last_dump") ||
		!strcmp(key, "p2p_dropped_since_last_dump");
	int64_t n;

	l->has_stats = true;
	if (is_loss && whole(x, token, &n) && n > 0)
		l->lost += (uint64_t)n;
}

static void read_proxy(
	struct gt_inspector *x, struct gt_inspector_line *l, const char *key, int token)
{
	l->is_proxy = true;
}

static double real_of(const struct gt_inspector *x, int token)
{
	return token == GT_JSON_INT || token == GT_JSON_REAL ? gt_json_double(x->j) : -1;
}

/* Microseconds with or without decimals as ns; -1: no such value. */
static int64_t ns_of(const struct gt_inspector *x, int token)
{
	int64_t ns;

	if ((token != GT_JSON_INT && token != GT_JSON_REAL) ||
		gt_json_scale(x->j->text, x->j->len, 3, &ns) || ns < 0 || ns > GT_ROWS_TIME_MAX)
		return -1;
	return ns;
}

static void set_function(struct gt_inspector *x, struct gt_inspector_operation *op)
{
	char name[64];

	snprintf(
		name, sizeof(name), "nccl%.*s", (int)(x->j->len < 50 ? x->j->len : 50), x->j->text);
	op->name = gt_rows_name(x->rows, name, strlen(name), GT_IMPORT_NCCL_GPU, NULL);
}

/* key: without the prefix "coll" or "p2p". */
static void read_operation_key(
	struct gt_inspector *x, struct gt_inspector_operation *op, const char *key, int token)
{
	int64_t n;

	if (!*key && token == GT_JSON_STRING)
		set_function(x, op);
	else if (!strcmp(key, "_sn"))
		op->number = whole(x, token, &n) && n >= 0 ? n : -1;
	else if (!strcmp(key, "_peer"))
		op->peer = whole(x, token, &n) && n >= 0 ? n : -1;
	else if (!strcmp(key, "_msg_size_bytes") && whole(x, token, &n) && n >= 0)
		op->bytes = (uint64_t)n;
	else if (!strcmp(key, "_exec_time_us"))
		op->ns = ns_of(x, token);
	else if (!strcmp(key, "_timing_source") && token == GT_JSON_STRING)
		op->source = text_of(x);
	else if (!strcmp(key, "_algo") && token == GT_JSON_STRING)
		op->algo = text_of(x);
	else if (!strcmp(key, "_proto") && token == GT_JSON_STRING)
		op->proto = text_of(x);
	else if (!strcmp(key, "_algobw_gbs"))
		op->algobw = real_of(x, token);
	else if (!strcmp(key, "_busbw_gbs"))
		op->busbw = real_of(x, token);
}

/* The latest time at which a channel's kernel was found to have ended. */
static int read_trace(struct gt_inspector *x, struct gt_inspector_operation *op, struct gt_err *err)
{
	unsigned top = x->j->depth - 1;
	bool stop = false;
	int t;

	do {
		int64_t ns;

		t = gt_json_next(x->j, err);
		if (t < 0)
			return t;
		if (stop && t == GT_JSON_INT && (ns = ns_of(x, t)) > op->ended)
			op->ended = ns;
		stop = t == GT_JSON_KEY && gt_json_is(x->j, "kernel_stop_ts");
	} while (x->j->depth > top);
	return 0;
}

/* Copies the key that the scanner has returned, or a long one as "". */
static void copy_key(const struct gt_json *j, char key[64])
{
	memset(key, 0, 64);
	if (j->len < 64)
		memcpy(key, j->text, j->len);
}

static int read_operation(
	struct gt_inspector *x, struct gt_inspector_line *l, bool p2p, struct gt_err *err)
{
	struct gt_inspector_operation *op = &l->op;
	size_t prefix = p2p ? 3 : 4;
	char key[64];
	int t, rc = 0;

	*op = (struct gt_inspector_operation){ .number = -1,
		.peer = -1,
		.name = -1,
		.ns = -1,
		.source = GT_NONE,
		.algo = GT_NONE,
		.proto = GT_NONE,
		.algobw = -1,
		.busbw = -1,
		.p2p = p2p };
	l->has_op = true;
	while (!rc && (t = gt_json_next(x->j, err)) != GT_JSON_OBJECT_END) {
		if (t < 0)
			return t;
		copy_key(x->j, key);
		t = gt_json_next(x->j, err);
		if (t < 0)
			return t;
		if (t == GT_JSON_OBJECT && !strcmp(key, "event_trace_ts"))
			rc = read_trace(x, op, err);
		else if (!strncmp(key, p2p ? "p2p" : "coll", prefix))
			read_operation_key(x, op, key + prefix, t);
		if (!rc)
			rc = gt_json_skip(x->j, err);
	}
	return rc;
}

static int read_members(
	struct gt_inspector *x, struct gt_inspector_line *l, member_fn *read, struct gt_err *err)
{
	char key[64];
	int t, rc = 0;

	while (!rc && (t = gt_json_next(x->j, err)) != GT_JSON_OBJECT_END) {
		if (t < 0)
			return t;
		copy_key(x->j, key);
		t = gt_json_next(x->j, err);
		if (t < 0)
			return t;
		read(x, l, key, t);
		rc = gt_json_skip(x->j, err);
	}
	return rc;
}

int gt_inspector_read(struct gt_inspector *x, struct gt_inspector_line *l, struct gt_err *err)
{
	static const struct {
		const char *key;
		member_fn *read;
	} objects[] = { { "header", read_header }, { "metadata", read_metadata },
		{ "dump_stats", read_stats }, { "proxy_trace", read_proxy } };
	char key[64];
	int t, rc = 0;

	*l = (struct gt_inspector_line){
		.of = { .rank = -1, .ranks = -1, .nodes = -1 }, .host = GT_NONE, .version = GT_NONE
	};
	while (!rc && (t = gt_json_next(x->j, err)) != GT_JSON_OBJECT_END) {
		if (t < 0)
			return t;
		copy_key(x->j, key);
		t = gt_json_next(x->j, err);
		if (t == GT_JSON_OBJECT &&
			(!strcmp(key, "coll_perf") || !strcmp(key, "p2p_perf"))) {
			rc = read_operation(x, l, *key == 'p', err);
			continue;
		}
		for (size_t i = 0; t == GT_JSON_OBJECT && i < 4; i++)
			if (!strcmp(key, objects[i].key)) {
				rc = read_members(x, l, objects[i].read, err);
				t = GT_JSON_OBJECT_END;
			}
		if (t < 0)
			return t;
		if (t != GT_JSON_OBJECT_END && !rc)
			rc = gt_json_skip(x->j, err);
	}
	return rc;
}
