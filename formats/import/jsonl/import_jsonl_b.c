/* Format B: JSON lines of an LD_PRELOAD logger, and of gtexport --jsonl.
 *
 *      {"ts":0.000001,"op_id":0,"phase":"B","name":"cuInit","details":{"flags":0}}
 *      {"ts":0.000050,"op_id":0,"phase":"E","name":"cuInit","details":{"status":0}}
 *
 * op_id pairs a begin with its end, within a pid if lines have one. "pid", "tid" and "args"
 * (another word for details) are optional. Without a tid all calls belong to one thread, and calls
 * that overlap are spread over lanes (begin_end_pairing.h). */
#include <math.h>
#include <string.h>
#include "formats/cuda/cuda_api.h"
#include "formats/export/exporters.h"
#include "formats/import/jsonl/import_jsonl_lines.h"
#include "formats/import/import_roles.h"
#include "formats/import/importers.h"

/* group: the parts of the class in the line (GT_LINE_*); 0: none. */
static void classify(const char *name, unsigned group, struct gt_type *type)
{
	gt_export_jsonl_guess(name, type);
	if (GT_LINE_LAYER(group))
		type->layer = (uint8_t)(GT_LINE_LAYER(group) - 1);
	if (GT_LINE_CATEGORY(group))
		type->category = (uint8_t)(GT_LINE_CATEGORY(group) - 1);
	if (GT_LINE_OP(group))
		type->op = (uint8_t)(GT_LINE_OP(group) - 1);
	if (GT_LINE_MEMKIND(group))
		type->memkind = (uint8_t)(GT_LINE_MEMKIND(group) - 1);
}

/* ---- rows other than calls, as gtexport --jsonl writes them ---- */

static uint8_t own_role(unsigned group, const char *key, unsigned kind)
{
	if (kind == GT_F_U64 && !strcmp(key, GT_ROWS_STACK))
		return GT_R_STACK;
	return group & GT_LINE_CLASSED ? gt_import_recorded_role(key, (uint8_t)kind) : GT_R_NONE;
}

static int own_track(struct gt_import_rows *r, const struct gt_import_line *l, unsigned i,
	const char *key, int64_t tid, struct gt_err *err)
{
	int64_t track = gt_rows_track(r, l->pid, tid, NULL, err);
	uint32_t written = track < 0 ? GT_NONE : gt_rows_track_id(r, (uint32_t)track);

	gt_rows_set_arg(r, i, key, GT_F_U64, written);
	return track < 0 ? (int)track : 0;
}

/* Converts values that the line has in another form: seconds, threads, words. */
static int own_value(struct gt_import_rows *r, const struct gt_import_line *l, unsigned i,
	const struct gt_rows_arg *a, struct gt_err *err)
{
	static const char *const tracks[][2] = { { "launch_tid", "launch_track" },
		{ "made_tid", "made_track" } };
	double seconds;

	for (unsigned k = 0; k < 2; k++)
		if (!strcmp(a->key, tracks[k][0]) && (a->kind == GT_F_U64 || a->kind == GT_F_I64))
			return own_track(r, l, i, tracks[k][1], (int64_t)a->value, err);
	if (a->kind == GT_F_F64 &&
		(!strcmp(a->key, "launch_start") || !strcmp(a->key, "made_start"))) {
		memcpy(&seconds, &a->value, sizeof(seconds));
		if (seconds >= -1e9 && seconds <= 1e9)
			gt_rows_set_arg(r, i,
				!strcmp(a->key, "made_start") ? "made_start" : "launch_start",
				GT_F_I64, (uint64_t)llround(seconds * 1e9));
	} else if (a->text && !strcmp(a->key, "direction")) {
		gt_rows_set_arg(r, i, "direction", GT_F_U64, gt_export_direction(a->text));
	}
	return 0;
}

static int own_row(struct gt_import_rows *r, uint32_t track, const struct gt_import_line *l,
	struct gt_err *err)
{
	bool span = l->kind == GT_SPAN || l->kind == GT_GPU, joined = false;
	struct gt_row row = { .start = l->time,
		.end = l->time + (span && l->has & GT_LINE_DURATION ? l->duration : 0),
		.depth = l->depth,
		.ret = l->kind == GT_UNMATCHED && l->phase == 'E' };
	struct gt_rows_arg a;
	unsigned i;
	int e = 0;

	if (span && l->phase == 'E')
		return 0; /* the begin has all data */
	for (i = 0; !e && gt_rows_arg(r, i, &a); i++) {
		joined |= !strcmp(a.key, "launch_join");
		e = own_value(r, l, i, &a, err);
	}
	if (!joined && l->kind == GT_GPU && i + 5 <= GT_FIELDS_MAX)
		gt_rows_launch(r, NULL, l->time);
	return e ? e : gt_rows_row(r, (enum gt_kind)l->kind, track, l->name, &row, err);
}

static int64_t place_of(
	struct gt_import_rows *r, const struct gt_import_line *l, struct gt_err *err)
{
	struct gt_rows_place at;

	if (!l->track || l->track - 1 == GT_TRACK_THREAD)
		return gt_rows_track(r, l->pid, l->tid, NULL, err);
	memset(&at, 0, sizeof(at));
	at.pid = l->pid;
	at.id = l->tid;
	at.kind = l->track - 1u;
	if (at.kind == GT_TRACK_STREAM || at.kind == GT_TRACK_CONTEXT) {
		at.on_device = l->has & GT_LINE_DEVICE;
		at.device = at.on_device ? l->device : 0;
		at.in_context = at.kind == GT_TRACK_STREAM && l->has & GT_LINE_CONTEXT;
		at.context = at.in_context ? l->context : 0;
	}
	return gt_rows_place(r, &at, err);
}

/* Moves *p behind the word if it is there. The scanner's padding makes it safe to
 * read so many bytes anywhere. */
static bool skip_word(const char **p, const char *word, size_t len)
{
	if (memcmp(*p, word, len))
		return false;
	*p += len;
	return true;
}
#define SKIP(p, word) skip_word(p, word, sizeof(word) - 1)
_Static_assert(
	sizeof(",\"details\":{") <= GT_JSON_PAD, "the longest of these words fits the padding");

/* Reads up to 18 digits, so that nothing overflows. Returns their number. */
static unsigned digits(const char **p, uint64_t *v)
{
	const char *q = *p;
	unsigned n = 0;

	for (*v = 0; n < 18 && (unsigned)q[n] - '0' <= 9; n++)
		*v = *v * 10 + (unsigned)q[n] - '0';
	*p = q + n;
	return n;
}

/* Reads the word, a JSON integer of less than 18 digits, and expects `then` behind it. */
static bool number(const char **p, const char *word, size_t len, char then, uint64_t *v)
{
	const char *q = *p, *from;
	unsigned n;

	if (!skip_word(&q, word, len))
		return false;
	from = q;
	n = digits(&q, v);
	if (!n || n > 17 || (n > 1 && *from == '0') || *q != then)
		return false;
	*p = q;
	return true;
}
#define NUMBER(p, word, then, v) number(p, word, sizeof(word) - 1, then, v)

/* Reads the usual keys after the name. Returns the position of the first other key. */
static const char *usual_rest(const char *p, struct gt_import_line *l)
{
	const char *q = p;
	uint64_t pid, tid, status;

	if (NUMBER(&q, ",\"pid\":", ',', &pid) &&
		(NUMBER(&q, ",\"tid\":", ',', &tid) || NUMBER(&q, ",\"tid\":", '}', &tid))) {
		l->pid = (int64_t)pid;
		l->tid = (int64_t)tid;
		p = q;
	}
	q = p;
	if (l->phase == 'E' && SKIP(&q, ",\"details\":{") &&
		NUMBER(&q, "\"status\":", '}', &status) && q[1] == '}' && status <= INT32_MAX) {
		l->ret = (int32_t)status;
		p = q + 1;
	}
	return p;
}

/* Reads the form of nearly all lines: ts with 9 decimals, op_id, phase and name in
 * this order and without white space. */
static const char *begin(struct gt_import_rows *r, struct gt_json *j, struct gt_import_line *l)
{
	const char *p = j->at, *name;
	uint64_t seconds, ns;
	int64_t n;

	while (*p == '\n')
		p++;
	j->at = p;
	if (!NUMBER(&p, "{\"ts\":", '.', &seconds) || seconds > 2000000000)
		return NULL;
	p++;
	if (digits(&p, &ns) != 9 || !NUMBER(&p, ",\"op_id\":", ',', &l->op_id) ||
		!SKIP(&p, ",\"phase\":\""))
		return NULL;
	l->phase = *p;
	if ((*p != 'B' && *p != 'E') || (p++, !SKIP(&p, "\",\"name\":\"")))
		return NULL;
	name = p;
	p = gt_json_skip_plain(p);
	if (*p != '"' || (p[1] != ',' && p[1] != '}'))
		return NULL;
	n = gt_rows_name(r, name, (size_t)(p - name), 0, NULL);
	if (n < 0)
		return NULL; /* the slow path sets the error */
	l->time = (int64_t)(seconds * 1000000000 + ns);
	l->name = (uint32_t)n;
	l->has = GT_LINE_TS | GT_LINE_OP_ID | GT_LINE_PHASE | GT_LINE_NAME;
	return usual_rest(p + 1, l);
}

static int row(struct gt_import_rows *r, const struct gt_import_line *l, struct gt_err *err)
{
	int64_t track;
	int lost;

	if (l->has & GT_LINE_FRAMES && !(l->has & (GT_LINE_PHASE | GT_LINE_OP_ID)))
		return gt_rows_define_stack(r, (uint64_t)l->stack_number, l->stack, err);
	track = place_of(r, l, err);
	if (track < 0)
		return (int)track;
	gt_rows_translate_stack(r);
	if (l->kind == GT_SPAN || l->kind == GT_GPU || l->kind == GT_COUNTER ||
		l->kind == GT_UNMATCHED)
		return own_row(r, (uint32_t)track, l, err);
	if (l->phase && !(l->has & GT_LINE_OP_ID))
		return gt_err_set(err, -EBADMSG, "a begin or end without \"op_id\"");
	if (l->phase == 'B')
		return gt_rows_begin(r, (uint32_t)track, l->name, l->time, l->op_id, err);
	if (l->phase == 'E')
		return gt_rows_end(r, (uint32_t)track, l->name, l->time, l->op_id, l->ret, err);
	lost = gt_rows_loss(r, (uint32_t)track, !l->pid && !l->tid, l->name, l->time, err);
	if (lost)
		return lost < 0 ? lost : 0;
	return gt_rows_complete(r, GT_INSTANT, (uint32_t)track, l->name, l->time, l->time, err);
}

static const struct gt_line_format format = {
	.rows = { "jsonl-b", GT_PAIR_BY_ID, classify, own_role },
	.classed = true,
	.begin = begin,
	.row = row,
};

static int sniff(const char *head, size_t len)
{
	unsigned has = gt_lines_sniff(head, len);

	/* a recording may begin with thousands of samples or counters */
	return has & GT_LINE_TS && has & (GT_LINE_OP_ID | GT_LINE_FRAMES | GT_LINE_KIND) ? 95 : 0;
}

static int import(struct gt_in *in, struct gt_writer *w, struct gt_err *err)
{
	return gt_import_lines(&format, in, w, err);
}

const struct gt_importer gt_import_jsonl_b = {
	.name = "jsonl-b",
	.help = "JSON lines with ts, op_id, phase, name, details (an LD_PRELOAD logger's, gtexport --jsonl)",
	.sniff = sniff,
	.import = import,
};
