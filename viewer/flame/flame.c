/* Rows come in order of start, a parent before its children. Each thread has a stack of its open
 * rows: a row belongs below the innermost open row that encloses it at a smaller depth.
 * formats/trace/read/nest.h does that, for calls and ranges. */
#define _GNU_SOURCE /* qsort_r */
#include "viewer/flame/flame.h"

#include <stdlib.h>
#include "analyze/columns/source_dedup.h"
#include "formats/base/buf.h"
#include "formats/base/map.h"
#include "formats/base/numbers.h"
#include "formats/base/sorted.h"
#include "formats/trace/read/nest.h"
#include "formats/trace/summary.h"
#include "viewer/util/deadline.h"

#define AT_ONCE 256u /* rows between two checks of the deadline */

struct stack {
	struct gt_nest nest;
	uint32_t node; /* of the thread; 0: not known yet */
};
/* the place of a stack */
struct place {
	struct gt_flame *f;
	const struct gt_segment *seg;
	uint32_t track;
};
struct gt_flame {
	struct gt_archive *archive;
	struct gt_reader *reader;
	enum gt_flame_of of;
	struct gt_filter filter;
	struct gt_range *ranges; /* by segment */
	struct gt_source_dedup *dedup;
	struct gt_iter *iter; /* NULL: all rows are read */
	struct gt_flame_node *nodes;
	uint32_t n;
	size_t cap;
	struct gt_map map;     /* nodes by parent, kind and id */
	struct stack **stacks; /* by segment and track; NULL: none of that segment yet */
	uint64_t rows, all;    /* rows read; estimated total */
	uint64_t overlaps;
	bool cut;
	struct gt_buf text; /* labels of frames, each with its NUL */
};

/* ---- open and free ---- */

static int count_rows(void *arg, const struct gt_block_info *filed)
{
	struct gt_flame *f = arg;
	struct gt_range range =
		gt_range_of(&f->filter, gt_reader_segment(f->reader, filed->segment));

	if (filed->kind && f->filter.kinds >> filed->kind & 1 && filed->start < range.to &&
		filed->end >= range.from)
		f->all += filed->rows;
	return 0;
}

static int begin(struct gt_flame *f, struct gt_range range, struct gt_err *err)
{
	int rc = 0;

	f->filter.kinds = f->of == GT_FLAME_GPU ? GT_BIT(GT_GPU)
						: GT_BIT(GT_CALL) | GT_BIT(GT_OPEN) |
			(f->of == GT_FLAME_RANGES ? GT_BIT(GT_SPAN) : 0);
	f->stacks = calloc(gt_reader_segments(f->reader) + 1ul, sizeof(*f->stacks));
	if (!f->stacks || gt_grow(&f->nodes, &f->cap, 64, sizeof(*f->nodes)))
		rc = gt_err_set(err, -ENOMEM, "out of memory");
	if (!rc)
		rc = gt_archive_limit(f->archive, range, &f->filter, &f->ranges, err);
	if (!rc && !(f->dedup = gt_source_dedup_new(f->reader, err)))
		rc = err->code;
	if (rc)
		return rc;
	gt_source_dedup_hide(f->dedup, &f->filter);
	f->nodes[f->n++] = (struct gt_flame_node){ .kind = GT_FLAME_ALL, .dur = -1 };
	f->iter = gt_iter_open(f->reader, &f->filter, err);
	return f->iter ? gt_each_block(f->reader, count_rows, f, err) : err->code;
}

struct gt_flame *gt_flame_new(
	struct gt_archive *a, enum gt_flame_of of, struct gt_range range, struct gt_err *err)
{
	struct gt_flame *f = calloc(1, sizeof(*f));

	if (!f) {
		gt_err_set(err, -ENOMEM, "out of memory");
		return NULL;
	}
	f->archive = a;
	f->reader = gt_archive_reader(a);
	f->of = of;
	if (!begin(f, range, err))
		return f;
	gt_flame_free(f);
	return NULL;
}

/* Calls fn for each stack, until it returns non-zero. */
static int each_stack(struct gt_flame *f, int (*fn)(const struct place *p, struct stack *s))
{
	int rc = 0;

	for (uint32_t i = 0; f->stacks && i < gt_reader_segments(f->reader); i++) {
		struct place p = { f, gt_reader_segment(f->reader, i), 0 };

		for (; !rc && f->stacks[i] && p.track < p.seg->ntracks; p.track++)
			rc = fn(&p, &f->stacks[i][p.track]);
	}
	return rc;
}

static int free_stack(const struct place *p, struct stack *s)
{
	gt_nest_release(&s->nest);
	return 0;
}

void gt_flame_free(struct gt_flame *f)
{
	if (!f)
		return;
	each_stack(f, free_stack);
	for (uint32_t i = 0; f->stacks && i < gt_reader_segments(f->reader); i++)
		free(f->stacks[i]);
	free(f->stacks);
	gt_iter_close(f->iter);
	gt_source_dedup_free(f->dedup);
	gt_map_release(&f->map);
	gt_buf_release(&f->text);
	free(f->ranges);
	free(f->nodes);
	free(f);
}

/* ---- nodes ---- */

struct node_key {
	uint32_t parent, segment, id, kind;
};

static bool same_node(const void *arg, uint32_t value, const void *key, size_t len)
{
	const struct gt_flame_node *n = &((const struct gt_flame *)arg)->nodes[value];
	const struct node_key *k = key;

	return n->parent == k->parent && n->segment == k->segment && n->id == k->id &&
		n->kind == k->kind;
}

/* The child of `parent` with this id, made if missing. Beyond the limit it is the parent itself.
 * UINT32_MAX: no memory. */
static uint32_t node_of(
	struct gt_flame *f, uint32_t parent, enum gt_flame_kind kind, uint32_t segment, uint32_t id)
{
	struct node_key key = { parent, segment, id, kind };
	uint64_t hash = gt_hash(&key, sizeof(key));
	uint32_t n = gt_map_get(&f->map, hash, same_node, f, &key, sizeof(key));

	if (n != UINT32_MAX)
		return n;
	if (f->n >= GT_FLAME_NODES) {
		f->cut = true;
		return parent;
	}
	if (gt_grow(&f->nodes, &f->cap, f->n + 1ul, sizeof(*f->nodes)) ||
		gt_map_add(&f->map, hash, f->n))
		return UINT32_MAX;
	f->nodes[f->n] = (struct gt_flame_node){ .parent = parent,
		.next = f->nodes[parent].child,
		.segment = segment,
		.id = id,
		.kind = (uint8_t)kind,
		.dur = -1 };
	f->nodes[parent].child = f->n;
	return f->n++;
}

static uint32_t process_node(struct gt_flame *f, const struct gt_segment *seg, uint32_t track)
{
	uint32_t process = gt_track_process(seg, track);

	return process == GT_NONE ? 0 : node_of(f, 0, GT_FLAME_PROCESS, seg->index, process);
}

/* The node of a track with calls, or of a device. */
static uint32_t track_node(
	struct gt_flame *f, const struct gt_segment *seg, uint32_t track, enum gt_flame_kind kind)
{
	uint32_t process = process_node(f, seg, track);

	return process == UINT32_MAX ? process : node_of(f, process, kind, seg->index, track);
}

/* Adds rows below a thread to the thread and all its ancestors. */
static void add_up(struct gt_flame *f, uint32_t node, uint64_t ns, uint64_t rows)
{
	for (;; node = f->nodes[node].parent) {
		struct gt_flame_node *n = &f->nodes[node];

		n->ns = n->ns + ns < ns ? UINT64_MAX : n->ns + ns;
		n->rows += rows;
		if (!node)
			return;
	}
}

/* ---- rows ---- */

/* The time of a row within the range. */
static uint64_t within(
	const struct gt_flame *f, const struct gt_segment *seg, int64_t start, int64_t end)
{
	return gt_ns_in_range(gt_range_of(&f->filter, seg), start, end);
}

/* An open call lasted at least until the end of the recording. */
static void note_longest(
	struct gt_flame *f, uint32_t node, uint32_t track, const struct gt_nest_row *row)
{
	struct gt_flame_node *n = &f->nodes[node];
	int64_t dur = row->ended - row->began;

	if (dur <= n->dur || n->kind < GT_FLAME_CALL)
		return;
	n->dur = dur;
	n->start = row->began;
	n->track = track;
	n->depth = row->depth;
}

static struct stack *stack_of(struct gt_flame *f, const struct gt_segment *seg, uint32_t track)
{
	struct stack **all = &f->stacks[seg->index];
	struct stack *s;

	if (!*all && !(*all = calloc(seg->ntracks + 1ul, sizeof(**all))))
		return NULL;
	s = &(*all)[track];
	if (!s->node) {
		s->node = track_node(f, seg, track, GT_FLAME_THREAD);
		s->nest.ranges = f->of == GT_FLAME_RANGES;
	}
	return s->node == UINT32_MAX ? NULL : s;
}

static uint32_t add_piece(void *arg, uint32_t parent, const struct gt_nest_row *piece)
{
	const struct place *p = arg;
	struct gt_flame *f = p->f;
	enum gt_flame_kind kind = piece->range ? GT_FLAME_RANGE : GT_FLAME_CALL;
	uint32_t top = parent == GT_NONE ? f->stacks[p->seg->index][p->track].node : parent;
	uint32_t node = node_of(f, top, kind, p->seg->index, (uint32_t)piece->what);
	uint64_t ns = within(f, p->seg, piece->start, piece->end);

	if (node == UINT32_MAX)
		return GT_NONE;
	note_longest(f, node, p->track, piece);
	if (parent == GT_NONE) {
		add_up(f, node, ns, !piece->nth);
	} else if (node != parent) {
		f->nodes[node].ns += ns;
		f->nodes[node].rows += !piece->nth;
	}
	return node;
}

static int flush_stack(const struct place *p, struct stack *s)
{
	int rc = gt_nest_flush(&s->nest, add_piece, (void *)(uintptr_t)p);

	p->f->overlaps += s->nest.cut;
	p->f->cut |= s->nest.limited;
	return rc;
}

static int add_of_thread(struct gt_flame *f, const struct gt_event *ev)
{
	const struct gt_nest_row row = { .start = ev->row.start,
		.end = ev->row.end,
		.what = ev->row.type,
		.depth = ev->row.depth,
		.range = ev->kind == GT_SPAN };
	struct place p = { f, ev->seg, ev->track };
	struct stack *s;

	if (row.range &&
		(ev->seg->tracks[ev->track].kind != GT_TRACK_THREAD ||
			gt_aspect_of(GT_SPAN, &ev->seg->types[ev->row.type]) != GT_ASPECT_RANGES))
		return 0;
	s = stack_of(f, ev->seg, ev->track);
	return s ? gt_nest_add(&s->nest, &row, add_piece, &p) : -ENOMEM;
}

static uint64_t field_of(const struct gt_event *ev, enum gt_role role, uint64_t otherwise)
{
	const struct gt_type *type = &ev->seg->types[ev->row.type];

	for (unsigned i = 0; i < type->nfields; i++)
		if (type->fields[i].role == role)
			return ev->args[i];
	return otherwise;
}

static int add_work(struct gt_flame *f, const struct gt_event *ev)
{
	uint64_t thread = field_of(ev, GT_R_LAUNCH_TRACK, GT_NONE),
		 name = field_of(ev, GT_R_LAUNCH_NAME, GT_NONE);
	uint32_t node, device = gt_track_device(ev->seg, ev->track);

	if (field_of(ev, GT_R_LAUNCH_JOIN, GT_JOIN_UNKNOWN) != GT_JOIN_UNKNOWN &&
		thread < ev->seg->ntracks && name < ev->seg->nstrings) {
		node = track_node(f, ev->seg, (uint32_t)thread, GT_FLAME_THREAD);
		node = node == UINT32_MAX
			? node
			: node_of(f, node, GT_FLAME_LAUNCH, ev->seg->index, (uint32_t)name);
	} else {
		node = track_node(
			f, ev->seg, device == GT_NONE ? ev->track : device, GT_FLAME_DEVICE);
	}
	node = node == UINT32_MAX ? node
				  : node_of(f, node, GT_FLAME_WORK, ev->seg->index, ev->row.type);
	if (node == UINT32_MAX)
		return -ENOMEM;
	note_longest(f, node, ev->track,
		&(struct gt_nest_row){
			.began = ev->row.start, .ended = ev->row.end, .depth = ev->row.depth });
	add_up(f, node, within(f, ev->seg, ev->row.start, ev->row.end), 1);
	return 0;
}

int gt_flame_step(struct gt_flame *f, uint64_t us, struct gt_err *err)
{
	uint64_t until = gt_deadline(us);
	struct gt_event ev;
	int rc = 1;

	while (f->iter && rc > 0 && !gt_deadline_is_over(until))
		for (unsigned i = 0; rc > 0 && i < AT_ONCE; i++) {
			rc = gt_iter_next(f->iter, &ev, err);
			if (rc <= 0 || ev.row.type >= ev.seg->ntypes)
				continue;
			f->rows++;
			if (f->of == GT_FLAME_GPU ? add_work(f, &ev) : add_of_thread(f, &ev))
				rc = gt_err_set(err, -ENOMEM, "out of memory (flame graph)");
		}
	if (rc > 0)
		return f->iter != NULL;
	if (!rc && f->iter && each_stack(f, flush_stack))
		rc = gt_err_set(err, -ENOMEM, "out of memory (flame graph)");
	gt_iter_close(f->iter);
	f->iter = NULL;
	return rc;
}

unsigned gt_flame_percent(const struct gt_flame *f)
{
	return !f->iter ? 100 : f->rows >= f->all ? 99 : (unsigned)(f->rows * 100 / f->all);
}

const struct gt_flame_node *gt_flame_nodes(const struct gt_flame *f, uint32_t *n)
{
	*n = f->n;
	return f->nodes;
}

const struct gt_flame_node *gt_flame_longest(const struct gt_flame *f, uint32_t node)
{
	const struct gt_flame_node *n = &f->nodes[node], *best = NULL;

	if (n->kind == GT_FLAME_CALL || n->kind == GT_FLAME_WORK || n->kind == GT_FLAME_RANGE)
		return n->dur < 0 ? NULL : n;
	for (uint32_t c = n->child; c;
		c = f->nodes[c].next) { /* children are linked newest first */
		const struct gt_flame_node *one = gt_flame_longest(f, c);

		if (one &&
			(!best || one->dur > best->dur ||
				(one->dur == best->dur && one->start <= best->start)))
			best = one;
	}
	return best;
}

bool gt_flame_is_cut(const struct gt_flame *f) { return f->cut; }
uint64_t gt_flame_overlaps(const struct gt_flame *f) { return f->overlaps; }

static bool has_ranges(const struct gt_segment *seg)
{
	for (uint32_t t = 0; seg->rows[GT_SPAN] && t < seg->ntypes; t++)
		if (gt_aspect_of(GT_SPAN, &seg->types[t]) == GT_ASPECT_RANGES)
			return true;
	return false;
}

bool gt_flame_has_ranges(struct gt_reader *r)
{
	for (uint32_t i = 0; i < gt_reader_segments(r); i++)
		if (has_ranges(gt_reader_segment(r, i)))
			return true;
	return false;
}

/* ---- by call stack ---- */

/* Adds row i of the table; at[]: nodes by row. Beyond the limit its parent has its value. */
static int add_frame(struct gt_flame *f, const struct gt_table *t, unsigned i, uint32_t *at)
{
	const struct gt_cell *parent = gt_table_cell(t, i, GT_FLAME_PARENT),
			     *label = gt_table_cell(t, i, GT_FLAME_LABEL);
	uint32_t above = parent->absent ? 0 : at[parent->i];

	at[i] = above;
	f->cut |= f->n >= GT_FLAME_NODES;
	if (!parent->absent && f->n < GT_FLAME_NODES) {
		if (gt_grow(&f->nodes, &f->cap, f->n + 1ul, sizeof(*f->nodes)))
			return -ENOMEM;
		f->nodes[f->n] = (struct gt_flame_node){ .parent = above,
			.next = f->nodes[above].child,
			.id = (uint32_t)f->text.len,
			.kind = GT_FLAME_FRAME,
			.dur = -1 };
		gt_buf_add(&f->text, label->s, strlen(label->s) + 1);
		f->nodes[above].child = at[i] = f->n++;
	}
	f->nodes[at[i]].ns =
		gt_sat_add(f->nodes[at[i]].ns, (uint64_t)gt_table_cell(t, i, GT_FLAME_VALUE)->i);
	return f->text.failed ? -ENOMEM : 0;
}

struct gt_flame *gt_flame_of_table(const struct gt_table *t)
{
	struct gt_flame *f = calloc(1, sizeof(*f));
	unsigned n = t ? gt_table_rows(t) : 0;
	uint32_t *at = calloc(n + 1ul, sizeof(*at));
	int rc = !f || !at || gt_grow(&f->nodes, &f->cap, 64, sizeof(*f->nodes));

	if (!rc)
		f->nodes[f->n++] = (struct gt_flame_node){ .kind = GT_FLAME_ALL, .dur = -1 };
	for (unsigned i = 0; !rc && i < n; i++)
		rc = add_frame(f, t, i, at);
	for (uint32_t i = f ? f->n : 0; !rc && i-- > 1;) {
		struct gt_flame_node *up = &f->nodes[f->nodes[i].parent];

		up->ns = gt_sat_add(up->ns, f->nodes[i].ns);
	}
	free(at);
	if (!rc)
		return f;
	gt_flame_free(f);
	return NULL;
}

const char *gt_flame_label(const struct gt_flame *f, const struct gt_flame_node *n)
{
	return (const char *)f->text.data + n->id;
}

/* ---- the picture ---- */

struct picture {
	const struct gt_flame *f;
	struct gt_flame_box *boxes;
	size_t n, cap;
	uint32_t *children; /* stack of the children of all nodes on the current path */
	size_t nchildren, children_cap;
	uint64_t all;
	unsigned width;
};

/* Longest first; the oldest of equals, so that the result is deterministic. */
static int by_time(const void *pa, const void *pb, void *arg)
{
	const struct gt_flame_node *nodes = ((const struct gt_flame *)arg)->nodes;
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;

	return GT_COMPARE(nodes[b].ns, nodes[a].ns) ?: GT_COMPARE(a, b);
}

static unsigned column(const struct picture *p, uint64_t ns)
{
	return p->all ? (unsigned)((unsigned __int128)ns * p->width / p->all) : 0;
}

/* Lays out a node that begins `left` ns from the left and is at most that long. */
static int lay(struct picture *p, uint32_t node, unsigned line, uint64_t left, uint64_t room)
{
	const struct gt_flame_node *n = &p->f->nodes[node];
	uint64_t ns = n->ns < room ? n->ns : room;
	unsigned x = column(p, left), end = column(p, left + ns);
	size_t first = p->nchildren;
	int rc = 0;

	if (x == end)
		return 0;
	if (gt_grow(&p->boxes, &p->cap, p->n + 1, sizeof(*p->boxes)))
		return -ENOMEM;
	p->boxes[p->n++] = (struct gt_flame_box){ node, line, x, end - x };
	for (uint32_t c = n->child; c; c = p->f->nodes[c].next) {
		if (gt_grow(&p->children, &p->children_cap, p->nchildren + 1, sizeof(*p->children)))
			return -ENOMEM;
		p->children[p->nchildren++] = c;
	}
	if (p->nchildren > first)
		qsort_r(p->children + first, p->nchildren - first, sizeof(*p->children), by_time,
			(void *)(uintptr_t)p->f);
	for (size_t i = first, many = p->nchildren; !rc && i < many && ns; i++) {
		uint32_t c = p->children[i];
		uint64_t of = p->f->nodes[c].ns < ns ? p->f->nodes[c].ns : ns;

		rc = lay(p, c, line + 1, left, of);
		left += of;
		ns -= of;
	}
	p->nchildren = first;
	return rc;
}

struct gt_flame_box *gt_flame_boxes(
	const struct gt_flame *f, uint32_t top, unsigned width, size_t *n)
{
	struct picture p = { .f = f, .all = f->nodes[top].ns, .width = width };
	int rc = gt_grow(&p.boxes, &p.cap, 1, sizeof(*p.boxes));

	rc = rc ? rc : lay(&p, top, 0, 0, p.all);
	free(p.children);
	*n = rc ? 0 : p.n;
	if (!rc)
		return p.boxes;
	free(p.boxes);
	return NULL;
}
