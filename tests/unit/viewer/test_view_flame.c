/* The flame graph compared with a count: each row's chain of calls is searched among all rows,
 * and its boxes are computed a second time. */
#define _GNU_SOURCE
#include "tests/unit/traces.h"
#include "tests/unit/viewer/view_stage.h"
#include "viewer/flame/flame.h"
#include "viewer/util/number_text.h"

static const char *const two_boots[] = { "a", "b", NULL }, *const one_boot[] = { "a", NULL };

/* ---- by brute force: a path of words for each row, and its time ---- */

struct row {
	uint32_t segment, track, depth, type, thread, name;
	int64_t start, end;
	bool gpu, joined;
};
/* longest: of the rows of this very path; -1: none has it */
struct sum {
	char path[400];
	uint64_t ns, rows;
	int64_t longest;
};
static struct row *rows;
static size_t nrows, rows_cap, nsums, sums_cap;
static struct sum *sums;

static uint64_t arg(const struct gt_event *ev, enum gt_role role)
{
	const struct gt_type *type = &ev->seg->types[ev->row.type];

	for (unsigned i = 0; i < type->nfields; i++)
		if (type->fields[i].role == role)
			return ev->args[i];
	return GT_NONE;
}

static bool read_rows(struct stage *st)
{
	struct gt_filter filter = { .kinds = GT_BIT(GT_CALL) | GT_BIT(GT_OPEN) | GT_BIT(GT_GPU) };
	struct gt_iter *it = gt_iter_open(st->reader, &filter, &st->err);
	struct gt_event ev;

	nrows = 0;
	while (it && gt_iter_next(it, &ev, &st->err) > 0) {
		struct row r = { ev.seg->index, ev.track, ev.row.depth, ev.row.type, 0, 0,
			ev.row.start, ev.row.end, ev.kind == GT_GPU, false };

		if (r.gpu && arg(&ev, GT_R_LAUNCH_JOIN) != GT_NONE &&
			arg(&ev, GT_R_LAUNCH_JOIN) != GT_JOIN_UNKNOWN) {
			r.joined = true;
			r.thread = (uint32_t)arg(&ev, GT_R_LAUNCH_TRACK);
			r.name = (uint32_t)arg(&ev, GT_R_LAUNCH_NAME);
		}
		if (gt_grow(&rows, &rows_cap, nrows + 1, sizeof(*rows)))
			return false;
		rows[nrows++] = r;
	}
	gt_iter_close(it);
	return it && !st->err.code;
}

/* The row that a call is directly nested in: of those of less depth that are around it the one that
 * began last, and there the deepest. */
static const struct row *around(const struct row *r)
{
	const struct row *best = NULL;

	for (size_t i = 0; i < nrows; i++) {
		const struct row *o = &rows[i];

		if (!o->gpu && o->segment == r->segment && o->track == r->track &&
			o->depth < r->depth && o->start <= r->start && o->end >= r->end &&
			(!best || o->depth > best->depth))
			best = o;
	}
	return best;
}

static void put_path(struct stage *st, const struct row *r, char *to)
{
	const struct gt_segment *seg = gt_reader_segment(st->reader, r->segment);
	const struct row *up = r->gpu ? NULL : around(r);

	if (up)
		put_path(st, up, to);
	else if (!r->gpu)
		sprintf(to, "all/s%u p%u/t%u", r->segment, gt_track_process(seg, r->track),
			r->track);
	else if (r->joined)
		sprintf(to, "all/s%u p%u/t%u/l%u", r->segment, gt_track_process(seg, r->thread),
			r->thread, r->name);
	else
		sprintf(to, "all/s%u p%u/d%u", r->segment, gt_track_process(seg, r->track),
			gt_track_device(seg, r->track));
	sprintf(to + strlen(to), r->gpu ? "/w%u" : "/c%u", r->type);
}

static bool add(const char *path, uint64_t ns, int64_t dur)
{
	size_t i = 0;

	while (i < nsums && strcmp(sums[i].path, path))
		i++;
	if (i == nsums && gt_grow(&sums, &sums_cap, nsums + 1, sizeof(*sums)))
		return false;
	if (i == nsums) {
		nsums++;
		sums[i] = (struct sum){ .longest = -1 };
		strcpy(sums[i].path, path);
	}
	sums[i].ns += ns;
	sums[i].rows++;
	sums[i].longest = dur > sums[i].longest ? dur : sums[i].longest;
	return true;
}

/* A row counts for its own path and, below a thread, for all paths above it. */
static bool count(struct stage *st, bool gpu, struct gt_range range)
{
	nsums = 0;
	for (size_t i = 0; i < nrows; i++) {
		int64_t offset = range.from == INT64_MIN
			? 0
			: gt_archive_offset(st->s.scene.archive, rows[i].segment);
		int64_t a =
			rows[i].start > range.from + offset ? rows[i].start : range.from + offset;
		int64_t b = rows[i].end < range.to + offset ? rows[i].end : range.to + offset;
		char path[400];

		if (rows[i].gpu != gpu || rows[i].start >= range.to + offset ||
			(rows[i].end <= range.from + offset && rows[i].start < range.from + offset))
			continue;
		put_path(st, &rows[i], path);
		if (!add(path, b > a ? (uint64_t)(b - a) : 0, rows[i].end - rows[i].start))
			return false;
		for (char *slash; (gpu || !around(&rows[i])) && (slash = strrchr(path, '/'));) {
			*slash = 0;
			if (!add(path, b > a ? (uint64_t)(b - a) : 0, -1))
				return false;
		}
	}
	return true;
}

static void path_of(const struct gt_flame_node *nodes, uint32_t node, char *to)
{
	static const char *const forms[] = { "all", "/s%2$u p%1$u", "/t%u", "/d%u", "/c%u", "/l%u",
		"/w%u" };
	const struct gt_flame_node *n = &nodes[node];

	*to = 0;
	if (node)
		path_of(nodes, n->parent, to);
	if (n->kind == GT_FLAME_PROCESS)
		sprintf(to + strlen(to), "/s%u p%u", n->segment, n->id);
	else
		sprintf(to + strlen(to), forms[n->kind], n->id);
}

static bool same_sums(const struct gt_flame *f)
{
	uint32_t n;
	const struct gt_flame_node *nodes = gt_flame_nodes(f, &n);
	size_t with = 0;

	for (uint32_t i = 0; i < n; i++) {
		char path[400];
		size_t k = 0;

		path_of(nodes, i, path);
		while (k < nsums && strcmp(sums[k].path, path))
			k++;
		if (k == nsums ? nodes[i].ns || nodes[i].rows
			       : sums[k].ns != nodes[i].ns || sums[k].rows != nodes[i].rows) {
			printf("%s: %llu ns of %llu rows, not %llu of %llu\n", path,
				(unsigned long long)nodes[i].ns, (unsigned long long)nodes[i].rows,
				k < nsums ? (unsigned long long)sums[k].ns : 0,
				k < nsums ? (unsigned long long)sums[k].rows : 0);
			return false;
		}
		if (k < nsums && nodes[i].dur != sums[k].longest) {
			printf("%s: the longest has %lld ns, not %lld\n", path,
				(long long)nodes[i].dur, (long long)sums[k].longest);
			return false;
		}
		with += k < nsums;
	}
	return with == nsums;
}

/* ---- boxes a second time: those that begin left of a column are counted ---- */

static uint64_t left_of(const struct gt_flame_node *nodes, uint32_t n, uint32_t node, uint32_t top)
{
	uint64_t left = node == top ? 0 : left_of(nodes, n, nodes[node].parent, top);

	for (uint32_t i = 1; node != top && i < n; i++)
		if (i != node && nodes[i].parent == nodes[node].parent &&
			(nodes[i].ns > nodes[node].ns ||
				(nodes[i].ns == nodes[node].ns && i < node)))
			left += nodes[i].ns;
	return left;
}

static bool right_boxes(const struct gt_flame *f, uint32_t top, unsigned width)
{
	uint32_t n;
	const struct gt_flame_node *nodes = gt_flame_nodes(f, &n);
	size_t nboxes, seen = 0;
	struct gt_flame_box *boxes = gt_flame_boxes(f, top, width, &nboxes);
	bool right = boxes;

	for (uint32_t i = 0; right && i < n; i++) {
		uint32_t up = i, line = 0;
		uint64_t left, x, end;
		size_t k = 0;

		for (; up && up != top; up = nodes[up].parent)
			line++;
		if (up != top)
			continue;
		left = left_of(nodes, n, i, top);
		x = nodes[top].ns ? left * width / nodes[top].ns : 0;
		end = nodes[top].ns ? (left + nodes[i].ns) * width / nodes[top].ns : 0;
		while (k < nboxes && boxes[k].node != i)
			k++;
		right = x == end ? k == nboxes
				 : k < nboxes && boxes[k].x == x && boxes[k].width == end - x &&
				boxes[k].line == line;
		seen += k < nboxes;
	}
	right &= seen == nboxes;
	free(boxes);
	return right;
}

/* ---- tests ---- */

static bool holds(struct stage *st, bool gpu, struct gt_range range, uint64_t us)
{
	struct gt_flame *f = gt_flame_new(
		st->s.scene.archive, gpu ? GT_FLAME_GPU : GT_FLAME_CALLS, range, &st->err);
	bool same;
	int rc = 1;
	uint32_t n;

	while (f && rc > 0)
		rc = gt_flame_step(f, us, &st->err);
	same = f && !rc && gt_flame_percent(f) == 100 && !gt_flame_is_cut(f) &&
		count(st, gpu, range) && same_sums(f);
	gt_flame_nodes(f, &n);
	for (unsigned i = 0; same && i < 6; i++)
		same = right_boxes(f, i ? below(n) : 0, 1 + below(200));
	gt_flame_free(f);
	return same;
}

static void against_a_count(const char *const *boots, unsigned seed)
{
	struct stage st;

	state = seed;
	stage_up(&st, boots, 260, 80, 24);
	CHECK(read_rows(&st) && nrows > 500);
	for (unsigned i = 0; i < 8; i++) {
		const struct gt_time_extent *e = &st.s.scene.extent;
		int64_t length = e->to - e->from, from = e->from + below((uint32_t)length);
		struct gt_range range = { from, from + 1 + below((uint32_t)length / 2) };

		CHECK(holds(&st, i & 1, i < 2 ? (struct gt_range){ INT64_MIN, INT64_MAX } : range,
			i < 4 ? 0 : 1));
	}
	strike(&st);
}

static void one_recording(void) { against_a_count(one_boot, 21); }
static void two_recordings(void) { against_a_count(two_boots, 22); }

static void keys_go_from_box_to_box(void)
{
	struct stage st;

	state = 23;
	stage_up(&st, one_boot, 400, 100, 20);
	CHECK(play(&st, "9") && on_screen(&st, "flame graph of calls  whole run") &&
		on_screen(&st, "calls: all"));
	CHECK(strstr(line(&st, 1), "\u2502all") && strstr(line(&st, 2), "(pid 1)"));
	CHECK(play(&st, "j") && on_screen(&st, "of all") && play(&st, "j j") &&
		on_screen(&st, " of thread 1"));
	CHECK(play(&st, "Enter") && !strstr(line(&st, 1), "\u2502all") &&
		play(&st, "Esc Esc Esc Esc") && strstr(line(&st, 1), "\u2502all"));
	CHECK(play(&st, "b") && on_screen(&st, "flame graph of GPU work") &&
		on_screen(&st, "unknown launch: GPU 0") && on_screen(&st, "cuLaunchKernel"));
	CHECK(play(&st, "double 50,2") && strstr(line(&st, 1), "(pid 1)") && play(&st, "w w w") &&
		line_of(&st, "whole run") < 0);
	strike(&st);
}

/* The target of the jump is selected, on its lane, and is as long as any row of its name with
 * the same parent. */
static void v_leads_to_the_longest(void)
{
	struct stage st;
	char want[100];
	int64_t longest = 0;

	state = 24;
	stage_up(&st, one_boot, 400, 120, 40);
	CHECK(read_rows(&st));
	for (size_t i = 0; i < nrows; i++)
		if (rows[i].gpu && rows[i].end - rows[i].start > longest)
			longest = rows[i].end - rows[i].start;
	CHECK(play(&st, "9 9") && on_screen(&st, "flame graph of GPU work") && play(&st, "v") &&
		!strcmp(st.s.view->ops->name, "timeline"));
	snprintf(
		want, sizeof(want), "duration %s", gt_number_text(GT_C_NS, (uint64_t)longest).text);
	CHECK(on_screen(&st, want));
	strike(&st);
}

/* It took until then, at least: where a program hangs that is the longest. */
static void v_leads_to_a_call_that_was_open(void)
{
	struct stage st;

	state = 24;
	stage_up(&st, one_boot, 400, 120, 40);
	CHECK(play(&st, "9") && on_screen(&st, "flame graph of calls") && play(&st, "j j j"));
	CHECK(!gt_ui_key(&st.s, (struct gt_key){ .key = 'v' }, &st.err) &&
		!strcmp(st.s.view->ops->name, "timeline"));
	gt_ui_draw(&st.s, &st.screen); /* at once: nothing more is read */
	CHECK(on_screen(&st, "so far") &&
		gt_window_column(&st.s.scene.window, st.s.scene.target_time) >= 0);
	strike(&st);
}

/* The share of time in the status line: the boxes that matched, nested ones counted once. */
static bool right_share(struct stage *st, const char *told)
{
	uint64_t all = 0, found = 0;
	char share[GT_BRIEF], want[100];

	for (size_t i = 0; i < nrows; i++) {
		const struct row *r = &rows[i];
		bool within = false;

		if (r->gpu)
			continue;
		all += around(r) ? 0 : (uint64_t)(r->end - r->start);
		for (const struct row *up = r; up; up = around(up))
			within |= up != r &&
				strstr(gt_type_name(gt_reader_segment(st->reader, up->segment),
					       up->type),
					"cuCall");
		if (!within &&
			strstr(gt_type_name(gt_reader_segment(st->reader, r->segment), r->type),
				"cuCall"))
			found += (uint64_t)(r->end - r->start);
	}
	gt_brief_share(share, found, all);
	snprintf(want, sizeof(want), told, share);
	return on_screen(st, want);
}

static void boxes_are_looked_for(void)
{
	struct stage st;
	unsigned n = 0;

	state = 25;
	stage_up(&st, one_boot, 400, 120, 30);
	CHECK(read_rows(&st) && play(&st, "9 n") && on_screen(&st, "no search is active"));
	CHECK(play(&st, "/ 'cu[C]all' Enter") && right_share(&st, " /cu[C]all  %s of all, ") &&
		on_screen(&st, ": cuCall"));
	for (unsigned i = 0; i < 200 && line_of(&st, "search continued at the first match") < 0;
		i++) {
		CHECK(play(&st, "n") &&
			(on_screen(&st, ": cuCall") ||
				on_screen(&st, "search continued at the first match")));
		n++;
	}
	CHECK(n > 2 && n < 200 && play(&st, "N") &&
		on_screen(&st, "search continued at the last match"));
	CHECK(play(&st, "j") && play(&st, "Esc") && line_of(&st, "/cu[C]all") < 0);
	CHECK(play(&st, "/ '(' Enter") && on_screen(&st, "not a regular expression") &&
		play(&st, ": 'find absent' Enter") && on_screen(&st, "no frame matches 'absent'"));
	CHECK(play(&st, ": 'find' Enter") && line_of(&st, "/absent") < 0);
	CHECK(play(&st, "/ 'thread 1[01]' Enter") && on_screen(&st, "2 frames") &&
		play(&st, "Enter / 'pid 1' Enter") && on_screen(&st, "Esc zooms out"));
	CHECK(play(&st, "b") && on_screen(&st, "/pid 1  100% of all, 1 frame"));
	strike(&st);
}

/* ---- ranges, by hand: their depths say nothing, as some were pushed and others started ---- */

static const struct {
	unsigned thread;
	char what;
	int64_t start, end;
	unsigned depth;
} told[] = {
	/* at one time, the innermost first */
	{ 0, 'g', 0, 100, 0 },
	{ 0, 's', 0, 400, 0 },
	{ 0, 'e', 0, 1000, 0 },
	{ 1, 'g', 0, 50, 0 },
	{ 0, 'l', 100, 200, 0 },
	{ 0, 'i', 120, 150, 1 },
	{ 0, 's', 400, 700, 0 }, /* where another one ends */
	/* ends after it: its rest is below the common parent */
	{ 0, 'h', 600, 900, 1 },
	{ 0, 'g', 950, 1100, 0 },
	{ 0, 'g', 1200, 1300, 0 },
	/* of one length: the range is around */
	{ 1, 's', 60, 80, 0 },
	{ 1, 's', 80, 80, 1 },
	{ 1, 'g', 60, 80, 0 },
};
static const struct {
	const char *path;
	uint64_t ns, rows;
} trees[] = {
	{ "all", 1270, 5 },
	{ "all/p", 1270, 5 },
	{ "all/p/t0", 1200, 2 },
	{ "all/p/t0/e", 1000, 1 },
	{ "all/p/t0/e/s", 700, 2 },
	{ "all/p/t0/e/s/g", 100, 1 },
	{ "all/p/t0/e/s/l", 100, 1 },
	{ "all/p/t0/e/s/l/i", 30, 1 },
	{ "all/p/t0/e/s/h", 100, 1 },
	{ "all/p/t0/e/h", 200, 0 }, /* its rest */
	{ "all/p/t0/e/g", 50, 1 },
	{ "all/p/t0/g", 200, 1 },
	{ "all/p/t1", 70, 3 },
	{ "all/p/t1/g", 50, 1 },
	{ "all/p/t1/s", 20, 2 },
	{ "all/p/t1/s/g", 20, 1 },
};

static void spell(struct gt_reader *r, const struct gt_flame_node *nodes, uint32_t node, char *to)
{
	const struct gt_segment *seg = gt_reader_segment(r, 0);
	const struct gt_flame_node *n = &nodes[node];

	if (node)
		spell(r, nodes, n->parent, to);
	if (n->kind == GT_FLAME_ALL)
		strcpy(to, "all");
	else if (n->kind == GT_FLAME_PROCESS)
		strcat(to, "/p");
	else if (n->kind == GT_FLAME_THREAD)
		sprintf(to + strlen(to), "/t%lld", (long long)seg->tracks[n->id].id - 100);
	else
		sprintf(to + strlen(to), "/%c", gt_type_name(seg, n->id)[0]);
}

static void put_told(struct tiny *t)
{
	static const char letters[] = "glihse";
	uint32_t types[256];

	for (const char *c = letters; *c; c++) {
		char name[2] = { *c };
		struct gt_type range = { .name = gt_writer_string(t->w, name),
			.category = GT_CAT_USER,
			.layer = GT_LAYER_USER };

		types[(uint8_t)*c] = strchr("hse", *c)
			? gt_writer_type(t->w, &range)
			: tiny_type(t->w, name, GT_CAT_QUERY, GT_OP_NONE, "");
	}
	for (unsigned i = 0; i < sizeof(told) / sizeof(*told); i++)
		CHECK(!tiny_row(t, strchr("hse", told[i].what) ? GT_SPAN : GT_CALL,
			t->thread[told[i].thread], types[(uint8_t)told[i].what], told[i].start,
			told[i].end, told[i].depth, 0, 0, 0));
}

static void ranges_are_around_what_is_within_them(void)
{
	struct gt_err err = GT_ERR_INIT;
	struct gt_archive *a;
	const struct gt_flame_node *nodes;
	struct gt_reader *r;
	struct gt_flame *f;
	struct tiny t;
	uint32_t n;
	int fd = temp_file(), copy = dup(fd);

	CHECK(!tiny_open(&t, fd, false));
	put_told(&t);
	CHECK(!gt_writer_close(t.w, &err) && (r = gt_reader_open_fd(copy, &err)) &&
		(a = gt_archive_open(r, &err)) && gt_flame_has_ranges(r));
	f = gt_flame_new(a, GT_FLAME_RANGES, (struct gt_range){ INT64_MIN, INT64_MAX }, &err);
	CHECK(f && !gt_flame_step(f, 0, &err));
	nodes = gt_flame_nodes(f, &n);
	CHECK(n == sizeof(trees) / sizeof(*trees) && gt_flame_overlaps(f) == 2);
	for (uint32_t i = 0; i < n; i++) {
		char path[100];
		uint32_t k = 0;

		spell(r, nodes, i, path);
		while (k < n && strcmp(trees[k].path, path))
			k++;
		if (k == n || nodes[i].ns != trees[k].ns || nodes[i].rows != trees[k].rows)
			printf("%s: %llu ns, %llu rows\n", path, (unsigned long long)nodes[i].ns,
				(unsigned long long)nodes[i].rows);
		CHECK(k < n && nodes[i].ns == trees[k].ns && nodes[i].rows == trees[k].rows);
	}
	gt_flame_free(f);
	gt_archive_close(a);
	gt_reader_close(r);
}

/* The most extreme input: a million ranges, each nested in the previous one, all from the same
 * time on. */
static void ranges_as_deep_as_can_be(void)
{
	struct gt_err err = GT_ERR_INIT;
	struct gt_archive *a;
	struct gt_reader *r;
	struct gt_flame *f;
	struct tiny t;
	size_t nboxes;
	uint32_t n, type;
	int fd = temp_file(), copy = dup(fd);

	CHECK(!tiny_open(&t, fd, false));
	type = gt_writer_type(t.w,
		&(struct gt_type){ .name = gt_writer_string(t.w, "deep"),
			.category = GT_CAT_USER,
			.layer = GT_LAYER_USER });
	for (int64_t i = 0; i < 1000000; i++)
		CHECK(!tiny_row(
			&t, GT_SPAN, t.thread[0], type, i / 500000, 2000000 - i, 0, 0, 0, 0));
	CHECK(!gt_writer_close(t.w, &err) && (r = gt_reader_open_fd(copy, &err)) &&
		(a = gt_archive_open(r, &err)));
	f = gt_flame_new(a, GT_FLAME_RANGES, (struct gt_range){ INT64_MIN, INT64_MAX }, &err);
	CHECK(f && !gt_flame_step(f, 0, &err) && gt_flame_is_cut(f));
	CHECK(gt_flame_nodes(f, &n)->ns == 2000000 && n < 300);
	free(gt_flame_boxes(f, 0, 200, &nboxes));
	CHECK(nboxes > 200 && nboxes < 300);
	gt_flame_free(f);
	gt_archive_close(a);
	gt_reader_close(r);
}

static void the_third_picture_is_of_ranges(void)
{
	struct stage st;

	state = 26;
	stage_up(&st, one_boot, 400, 120, 40);
	CHECK(play(&st, "9 b b") && on_screen(&st, "flame graph of ranges"));
	CHECK(play(&st, "/ '^range$' Enter") && on_screen(&st, ": range"));
	CHECK(play(&st, "v") && !strcmp(st.s.view->ops->name, "timeline") &&
		on_screen(&st, "duration ") && line_of(&st, "ranges") >= 0);
	CHECK(play(&st, "9 b") && on_screen(&st, "flame graph of calls"));
	strike(&st);
}

T_MAIN(T(ranges_are_around_what_is_within_them), T(ranges_as_deep_as_can_be),
	T(the_third_picture_is_of_ranges), T(one_recording), T(two_recordings),
	T(keys_go_from_box_to_box), T(v_leads_to_the_longest), T(v_leads_to_a_call_that_was_open),
	T(boxes_are_looked_for))
