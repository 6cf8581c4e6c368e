/* Format B: JSON lines of an LD_PRELOAD logger, and what gtexport --jsonl writes.
 *
 *	{"ts":0.000001,"op_id":0,"phase":"B","name":"cuInit","details":{"flags":0}}
 *	{"ts":0.000050,"op_id":0,"phase":"E","name":"cuInit","details":{"status":0}}
 *
 * op_id pairs begin with end, within a pid where lines have one. "pid", "tid" and "args" (another word for details) may be
 * there; without them all calls are one thread's, and those that overlap are spread over lanes (pair.h). */
#include "formats/import_lines.h"
#include "formats/importers.h"
#include "formats/cuda_api.h"

/* "open /dev/nvidiactl": opening, mapping and closing the driver's files, as our own recordings name it. */
static bool is_file(const char *name)
{
	const char *path = strchr(name, ' ');

	return path && !strncmp(path, " /dev/nvidia", sizeof(" /dev/nvidia") - 1);
}

static void classify(const char *name, unsigned group, struct gt_type *type)
{
	struct gt_api api = gt_api_guess(name);

	type->category = api.category;
	type->op = api.op;
	type->memkind = api.memkind;
	type->layer = GT_LAYER_API;
	if (api.category == GT_CAT_OTHER && strstr(name, "ioctl"))
		type->category = GT_CAT_IOCTL, type->op = GT_OP_IOCTL;
	else if (api.category == GT_CAT_OTHER && is_file(name))
		type->category = GT_CAT_FILE;
	if (type->category == GT_CAT_IOCTL || type->category == GT_CAT_FILE)
		type->layer = GT_LAYER_IOCTL;
}

/* Moves *p behind the word if it stands there. Looking at as many bytes as the scanner's padding has is safe anywhere. */
static bool skip_word(const char **p, const char *word, size_t len)
{
	if (memcmp(*p, word, len))
		return false;
	*p += len;
	return true;
}
#define SKIP(p, word) skip_word(p, word, sizeof(word) - 1)
_Static_assert(sizeof(",\"details\":{") <= GT_JSON_PAD, "the longest of these words fits the padding");

/* Up to 18 digits, so that nothing overflows; how many there were. */
static unsigned digits(const char **p, uint64_t *v)
{
	const char *q = *p;
	unsigned n = 0;

	for (*v = 0; n < 18 && (unsigned)q[n] - '0' <= 9; n++)
		*v = *v * 10 + (unsigned)q[n] - '0';
	*p = q + n;
	return n;
}

/* The word, and behind it a whole number as JSON writes them, of less than 18 digits, with `then` behind it. */
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

/* What often stands behind the name; p where the first thing is that looks otherwise. */
static const char *usual_rest(const char *p, struct gt_line *l)
{
	const char *q = p;
	uint64_t pid, tid, status;

	if (NUMBER(&q, ",\"pid\":", ',', &pid) && (NUMBER(&q, ",\"tid\":", ',', &tid) || NUMBER(&q, ",\"tid\":", '}', &tid))) {
		l->pid = (int64_t)pid;
		l->tid = (int64_t)tid;
		p = q;
	}
	q = p;
	if (l->phase == 'E' && SKIP(&q, ",\"details\":{") && NUMBER(&q, "\"status\":", '}', &status) && q[1] == '}' &&
	    status <= INT32_MAX) {
		l->ret = (int32_t)status;
		p = q + 1;
	}
	return p;
}

/* The shape nearly all lines have: ts with 9 decimals, op_id, phase and name in this order and without white space. */
static const char *begin(struct gt_rows *r, struct gt_json *j, struct gt_line *l)
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
	if (digits(&p, &ns) != 9 || !NUMBER(&p, ",\"op_id\":", ',', &l->op_id) || !SKIP(&p, ",\"phase\":\""))
		return NULL;
	l->phase = *p;
	if ((*p != 'B' && *p != 'E') || (p++, !SKIP(&p, "\",\"name\":\"")))
		return NULL;
	name = p;
	p = gt_json_plain(p);
	if (*p != '"' || (p[1] != ',' && p[1] != '}'))
		return NULL;
	n = gt_rows_name(r, name, (size_t)(p - name), 0, NULL);
	if (n < 0)
		return NULL;	/* the long way finds words for what is wrong */
	l->time = (int64_t)(seconds * 1000000000 + ns);
	l->name = (uint32_t)n;
	l->has = GT_LINE_TS | GT_LINE_OP_ID | GT_LINE_PHASE | GT_LINE_NAME;
	return usual_rest(p + 1, l);
}

static int row(struct gt_rows *r, const struct gt_line *l, struct gt_err *err)
{
	int64_t track = gt_rows_track(r, l->pid, l->tid, NULL, err);
	int lost;

	if (track < 0)
		return (int)track;
	if (l->phase && !(l->has & GT_LINE_OP_ID))
		return gt_err_set(err, -EBADMSG, "a begin or end without \"op_id\"");
	if (l->phase == 'B')
		return gt_rows_begin(r, (uint32_t)track, l->name, l->time, l->op_id, err);
	if (l->phase == 'E')
		return gt_rows_end(r, (uint32_t)track, l->name, l->time, l->op_id, l->ret, err);
	lost = gt_rows_lost(r, (uint32_t)track, !l->pid && !l->tid, l->name, l->time, err);
	if (lost)
		return lost < 0 ? lost : 0;
	return gt_rows_whole(r, GT_INSTANT, (uint32_t)track, l->name, l->time, l->time, err);
}

static const struct gt_line_format format = {
	.rows = { "jsonl-b", GT_PAIR_BY_ID, classify },
	.begin = begin,
	.row = row,
};

static int sniff(const char *head, size_t len)
{
	unsigned has = gt_lines_sniff(head, len);

	return has & GT_LINE_TS && has & GT_LINE_OP_ID ? 95 : 0;
}

static int import(struct gt_in *in, struct gt_writer *w, struct gt_err *err)
{
	return gt_import_lines(&format, in, w, err);
}

const struct gt_importer gt_import_jsonl_b = {
	.name	= "jsonl-b",
	.help	= "JSON lines with ts, op_id, phase, name, details (an LD_PRELOAD logger's, gtexport --jsonl)",
	.sniff	= sniff,
	.import	= import,
};
