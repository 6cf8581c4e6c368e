/* All rows of a random trace in a list, to hold single rows and searches against: which of them a
 * lane has. */
#ifndef VIEW_ROWS_H
#define VIEW_ROWS_H
#include "tests/unit/viewer/view_program.h"
#include "viewer/search/event_search.h"

struct one {
	uint32_t track, type;
	enum gt_kind kind;
	int64_t start, end, launch_start;
	unsigned depth, direction;
	uint64_t bytes;
	uint32_t launch_track;
	int ret;
};
static struct one *ones;
static size_t nones, ones_cap;
static struct gt_err err;
static struct gt_reader *reader;
static struct gt_archive *archive;

static void list_rows(void)
{
	struct gt_filter all = { .kinds = GT_BIT(GT_CALL) | GT_BIT(GT_OPEN) | GT_BIT(GT_SPAN) |
			GT_BIT(GT_GPU) };
	struct gt_iter *it = gt_iter_open(reader, &all, &err);
	struct gt_event ev;

	nones = 0;
	while (it && gt_iter_next(it, &ev, &err) > 0) {
		const struct gt_type *t = &ev.seg->types[ev.row.type];
		struct one o = { ev.track, ev.row.type, ev.kind, ev.row.start, ev.row.end, 0,
			ev.row.depth, 0, 0, GT_NONE, ev.row.ret };
		bool joined = false;

		for (unsigned f = 0; f < t->nfields; f++) {
			unsigned role = t->fields[f].role;

			o.bytes = role == GT_R_BYTES ? ev.args[f] : o.bytes;
			o.direction = role == GT_R_DIRECTION && t->op == GT_OP_COPY
				? 1 + (unsigned)ev.args[f]
				: o.direction;
			o.launch_track =
				role == GT_R_LAUNCH_TRACK ? (uint32_t)ev.args[f] : o.launch_track;
			o.launch_start =
				role == GT_R_LAUNCH_START ? (int64_t)ev.args[f] : o.launch_start;
			joined |= role == GT_R_LAUNCH_JOIN && ev.args[f];
		}
		o.launch_track = joined ? o.launch_track : GT_NONE;
		CHECK(!gt_grow(&ones, &ones_cap, nones + 1, sizeof(*ones)));
		ones[nones++] = o;
	}
	gt_iter_close(it);
	CHECK(!err.code && nones > 500);
}

static void open_program(unsigned seed, unsigned turns)
{
	int fd = temp_file(), keep = dup(fd);

	state = seed;
	make(fd, "boot", 123456, turns);
	CHECK((reader = gt_reader_open_fd(keep, &err)) &&
		(archive = gt_archive_open(reader, &err)));
	list_rows();
}

static void close_program(void)
{
	gt_archive_close(archive);
	gt_reader_close(reader);
}

static const struct gt_lane_key lanes[] = {
	{ { 0, 2, GT_ASPECT_CALLS, false }, 0 },
	{ { 0, 2, GT_ASPECT_CALLS, false }, 2 },
	{ { 0, 3, GT_ASPECT_IOCTLS, false }, 0 },
	{ { 0, 9, GT_ASPECT_CALLS, false }, 0 },
	{ { 0, 2, GT_ASPECT_RANGES, false }, 1 },
	{ { 0, 0, GT_ASPECT_OTHERS, false }, 0 },
	{ { 0, 14, GT_ASPECT_WORK, false }, 0 },
	{ { 0, 1, GT_ASPECT_WORK, true }, 0 },
	{ { 0, 1, GT_ASPECT_HTOD, true }, 0 },
	{ { 0, 0, GT_ASPECT_CALLS, true }, 0 },
	{ { 0, 2, GT_ASPECT_CALLS, false }, GT_DEPTH_ANY },
};
#define NLANES (sizeof(lanes) / sizeof(lanes[0]))

static bool is_below(uint32_t t, uint32_t top)
{
	for (; t != GT_NONE; t = gt_reader_segment(reader, 0)->tracks[t].parent)
		if (t == top)
			return true;
	return false;
}

static bool is_on(const struct one *o, const struct gt_lane_key *l)
{
	const struct gt_type *t = &gt_reader_segment(reader, 0)->types[o->type];
	bool nests = l->strip.aspect == GT_ASPECT_CALLS || l->strip.aspect == GT_ASPECT_RANGES;

	if (l->strip.derived ? !is_below(o->track, l->strip.track) : o->track != l->strip.track)
		return false;
	if (nests && l->depth != GT_DEPTH_ANY && o->depth != l->depth)
		return false;
	switch (l->strip.aspect) {
	case GT_ASPECT_CALLS: return o->kind == GT_CALL || o->kind == GT_OPEN;
	case GT_ASPECT_IOCTLS:
		return (o->kind == GT_CALL || o->kind == GT_OPEN) && t->layer == GT_LAYER_IOCTL;
	case GT_ASPECT_RANGES: return o->kind == GT_SPAN && t->layer == GT_LAYER_USER;
	case GT_ASPECT_OTHERS:
		return o->kind == GT_SPAN && t->layer != GT_LAYER_USER && t->op != GT_OP_OFF_CPU;
	case GT_ASPECT_STATES: return o->kind == GT_SPAN && t->op == GT_OP_OFF_CPU;
	case GT_ASPECT_WORK: return o->kind == GT_GPU;
	default: return o->kind == GT_GPU && o->direction == 1 + GT_DIR_HTOD;
	}
}

static inline bool is_same(const struct one *o, const struct gt_event_ref *f)
{
	return o->track == f->lane.strip.track && o->type == f->type && o->start == f->start &&
		o->end == gt_event_ref_end(f) && o->kind == f->kind && o->ret == f->ret &&
		o->bytes == f->bytes;
}
#endif
