/* Joins, checked in the file: every row of GPU work that names a call is held against that call's
 *own row, with nothing but the reader.
 *
 *	test_joins_in_file FILE...	prints for each "FILE: W work, E exact, I inferred, N none,
 *C compared by shape, X wrong", and the first wrong ones; exit status 1 where there are any
 *	test_joins_in_file		checks the recordings of a real GPU in samples/recorded
 *($SRC)
 */
#include <dirent.h>
#include "formats/trace/read/reader.h"
#include "tests/unit/t.h"

struct call {
	uint32_t track, name, kernel, op;
	int64_t start, end;
	uint64_t stream, bytes;
	uint32_t grid[3], block[3];
	bool shaped, streamed, sized;
};
struct found {
	unsigned long long work, exact, inferred, none, compared, wrong;
};
struct file {
	struct call *calls;
	size_t n, cap;
	struct found f;
	const char *name;
};

static uint64_t role(const struct gt_event *ev, unsigned wanted, unsigned nth)
{
	const struct gt_type *t = &ev->seg->types[ev->row.type];

	for (unsigned i = 0; i < t->nfields && i < ev->row.nargs; i++)
		if (t->fields[i].role == wanted && !nth--)
			return ev->args[i];
	return UINT64_MAX;
}

static void take_call(struct file *f, const struct gt_event *ev)
{
	const struct gt_type *t = &ev->seg->types[ev->row.type];
	struct call c = { .track = ev->track,
		.name = t->name,
		.op = t->op,
		.start = ev->row.start,
		.end = ev->row.end };

	c.kernel = (uint32_t)role(ev, GT_R_KERNEL, 0);
	c.bytes = role(ev, GT_R_BYTES, 0);
	c.sized = c.bytes != UINT64_MAX;
	c.stream = role(ev, GT_R_STREAM, 0);
	c.streamed = c.stream != UINT64_MAX;
	c.shaped = role(ev, GT_R_GRID, 2) != UINT64_MAX && role(ev, GT_R_BLOCK, 2) != UINT64_MAX;
	for (unsigned i = 0; i < 3; i++) {
		c.grid[i] = (uint32_t)role(ev, GT_R_GRID, i);
		c.block[i] = (uint32_t)role(ev, GT_R_BLOCK, i);
	}
	if (f->n == f->cap)
		f->calls = realloc(
			f->calls, (f->cap = f->cap ? 2 * f->cap : 1024) * sizeof(*f->calls));
	f->calls[f->n++] = c;
}

static int by_place(const void *a, const void *b)
{
	const struct call *x = a, *y = b;

	if (x->track != y->track)
		return x->track < y->track ? -1 : 1;
	return x->start < y->start ? -1 : x->start > y->start;
}

static bool same_text(const struct gt_segment *s, uint32_t a, uint32_t b)
{
	return a == b ||
		(a < s->nstrings && b < s->nstrings &&
			!strcmp(s->strings[a].ptr, s->strings[b].ptr));
}

/* Is this kernel what the call launched, or made a node for? */
static const char *kernel_differs(struct file *f, const struct gt_event *ev, const struct call *c)
{
	if (c->kernel != GT_NONE &&
		!same_text(ev->seg, c->kernel, ev->seg->types[ev->row.type].name))
		return "the kernel";
	for (unsigned i = 0; c->shaped && i < 3; i++)
		if (c->grid[i] != role(ev, GT_R_GRID, i) || c->block[i] != role(ev, GT_R_BLOCK, i))
			return "the shape";
	f->f.compared += c->shaped;
	return NULL;
}

static const struct call *call_at(const struct file *f, uint64_t track, uint64_t start)
{
	const struct call key = { .track = (uint32_t)track, .start = (int64_t)start };

	return bsearch(&key, f->calls, f->n, sizeof(*f->calls), by_place);
}

/* Of a graph's node: the call that created it must have asked for it. */
static const char *creation_differs(struct file *f, const struct gt_event *ev)
{
	const struct call *made =
		call_at(f, role(ev, GT_R_CREATED_BY_TRACK, 0), role(ev, GT_R_CREATED_BY_START, 0));

	if (role(ev, GT_R_GRAPH, 0) == UINT64_MAX)
		return "no graph";
	if ((uint32_t)role(ev, GT_R_CREATED_BY_NAME, 0) == GT_NONE)
		return NULL;
	if (!made)
		return "there is no call that created it";
	return ev->seg->types[ev->row.type].category == GT_CAT_KERNEL && made->op == GT_OP_LAUNCH
		? kernel_differs(f, ev, made)
		: NULL;
}

/* Is it what the call asked for? NULL: yes. */
static const char *differs(struct file *f, const struct gt_event *ev, const struct call *c)
{
	const struct gt_type *t = &ev->seg->types[ev->row.type];

	if ((int64_t)role(ev, GT_R_LAUNCH_NS, 0) != c->end - c->start)
		return "the call's duration";
	if (!same_text(ev->seg, (uint32_t)role(ev, GT_R_LAUNCH_NAME, 0), c->name))
		return "the call's name";
	if (c->op == GT_OP_GRAPH_LAUNCH)
		return creation_differs(f, ev);
	if (role(ev, GT_R_GRAPH, 0) != UINT64_MAX)
		return "a graph";
	if (t->category == GT_CAT_KERNEL && c->op == GT_OP_LAUNCH)
		return kernel_differs(f, ev, c);
	if (t->category == GT_CAT_COPY && t->op == c->op && c->sized) {
		if (c->bytes != role(ev, GT_R_BYTES, 0))
			return "the bytes";
		f->f.compared++;
	}
	return NULL;
}

static void take_work(struct file *f, const struct gt_event *ev)
{
	const struct call *c;
	uint64_t how = role(ev, GT_R_LAUNCH_JOIN, 0);
	const char *what;

	f->f.work++;
	f->f.exact += how == GT_JOIN_CORRELATION;
	f->f.inferred += how == GT_JOIN_ORDER;
	f->f.none += how == GT_JOIN_UNKNOWN;
	if (how == GT_JOIN_UNKNOWN)
		return;
	c = call_at(f, role(ev, GT_R_LAUNCH_TRACK, 0), role(ev, GT_R_LAUNCH_START, 0));
	what = c ? differs(f, ev, c) : "there is no such call";
	if (what && f->f.wrong++ < 5)
		printf("%s: %s at %lld ns: %s\n", f->name, gt_type_name(ev->seg, ev->row.type),
			(long long)ev->row.start, what);
}

static bool each(const char *path, unsigned kinds, struct file *f,
	void (*take)(struct file *f, const struct gt_event *ev))
{
	struct gt_filter filter = { .kinds = kinds };
	struct gt_reader *r = gt_reader_open(path, NULL);
	struct gt_iter *it = r ? gt_iter_open(r, &filter, NULL) : NULL;
	struct gt_event ev;
	int more = -1;

	while (it && (more = gt_iter_next(it, &ev, NULL)) == 1)
		take(f, &ev);
	gt_iter_close(it);
	gt_reader_close(r);
	return !more;
}

static bool check(const char *path, struct found *found)
{
	struct file f = { .name = path };
	bool fine = each(path, GT_BIT(GT_CALL), &f, take_call);

	if (f.n)
		qsort(f.calls, f.n, sizeof(*f.calls), by_place);
	fine &= each(path, GT_BIT(GT_GPU), &f, take_work);
	free(f.calls);
	*found = f.f;
	return fine;
}

static void the_recordings_of_a_gpu(void)
{
	char folder[4096], path[4400];
	const struct dirent *e;
	struct found f;
	unsigned with = 0;
	DIR *d;

	snprintf(
		folder, sizeof(folder), "%s/samples/recorded", getenv("SRC") ? getenv("SRC") : ".");
	CHECK((d = opendir(folder)) != NULL);
	while ((e = readdir(d))) {
		if (!strstr(e->d_name, ".zst"))
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, e->d_name);
		CHECK(check(path, &f) && !f.wrong && !f.none && !f.inferred && f.exact == f.work);
		CHECK(!f.work || f.compared * 2 > f.work);
		with += f.work > 0;
	}
	closedir(d);
	CHECK(with >= 5);
}

int main(int argc, char **argv)
{
	static const struct t_case cases[] = { T(the_recordings_of_a_gpu) };
	unsigned long long wrong = 0;
	struct found f;

	if (argc < 2)
		return t_main(__FILE__, cases, 1);
	for (int i = 1; i < argc; i++) {
		if (!check(argv[i], &f))
			return 1;
		printf("%s: %llu work, %llu exact, %llu inferred, %llu none, %llu compared by shape, %llu wrong\n",
			argv[i], f.work, f.exact, f.inferred, f.none, f.compared, f.wrong);
		wrong += f.wrong;
	}
	return wrong > 0;
}
