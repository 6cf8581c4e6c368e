/* Random traces with all that the viewer draws: nested calls, ioctls, failures, ranges that nest
 * and overlap, work and waits of streams that overlap, copies in all directions, launches that are
 * known, quiet tracks that share blocks, rows that last for many blocks, calls that are still open
 * at the end, nested ones among them. */
#ifndef VIEW_PROGRAM_H
#define VIEW_PROGRAM_H
#include "tests/unit/t.h"
#include "tests/unit/traces.h"
#include "formats/cuda/gpu_rows.h"
#include "formats/trace/wire.h"

static uint64_t state;
/* of the device: 0: streams stand below it; 1; 2: its last stream has one of its own */
static unsigned contexts __attribute__((unused));

/* the programs' threads also have states off the processor, two of which may overlap */
static bool off_cpu __attribute__((unused));

static inline uint32_t below(uint32_t n)
{
	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)((state >> 33) * n >> 31);
}

static const char *range_name __attribute__((unused)) = "range";

struct program {
	struct gt_writer *w;
	struct gt_gpu_types types;
	uint32_t process, device, threads[12], streams[3], quiet[6], call, alloc, ioctl, range,
		overhead, off, name;
	/* last: of each thread, when its last outermost call began */
	int64_t now, last[12];
	struct gt_err err;
};

static inline uint32_t track(struct program *p, uint32_t parent, unsigned kind, int64_t id)
{
	return gt_writer_track(p->w,
		&(struct gt_track){ .parent = parent,
			.name = GT_NONE,
			.source = gt_writer_string(p->w, "preload"),
			.kind = (uint8_t)kind,
			.id = id,
			.ns_id = id });
}

static inline uint32_t type(
	struct program *p, const char *name, unsigned category, unsigned layer, unsigned role)
{
	struct gt_field f = { gt_writer_string(p->w, "bytes"), GT_F_U64, (uint8_t)role };

	return gt_writer_type(p->w,
		&(struct gt_type){ .name = gt_writer_string(p->w, name),
			.category = (uint8_t)category,
			.layer = (uint8_t)layer,
			.nfields = role != GT_R_NONE,
			.fields = &f });
}

static inline void begin(struct program *p, int fd, const char *boot, int64_t now)
{
	struct gt_writer_options o = { .meta_json = "{}", .boot_id = boot, .host = boot };
	uint32_t in[2];

	*p = (struct program){ .now = now, .err = GT_ERR_INIT };
	CHECK((p->w = gt_writer_open(fd, &o, &p->err)));
	p->types.w = p->w;
	p->process = track(p, GT_NONE, GT_TRACK_PROCESS, 1);
	p->device = track(p, p->process, GT_TRACK_DEVICE, 0);
	for (unsigned i = 0; i < 12; i++)
		p->threads[i] = track(p, p->process, GT_TRACK_THREAD, 10 + i);
	for (unsigned i = 0; i < contexts; i++)
		in[i] = track(p, p->device, GT_TRACK_CONTEXT, 1 + i);
	for (unsigned i = 0; i < 3; i++)
		p->streams[i] = track(p, contexts ? in[i == 2 ? contexts - 1 : 0] : p->device,
			GT_TRACK_STREAM, 7 + i);
	p->call = type(p, "cuCall", GT_CAT_QUERY, GT_LAYER_API, GT_R_NONE);
	p->alloc = type(p, "cuMemAlloc", GT_CAT_MEMORY, GT_LAYER_API, GT_R_BYTES);
	p->ioctl = type(p, "ioctl", GT_CAT_IOCTL, GT_LAYER_IOCTL, GT_R_NONE);
	p->range = type(p, range_name, GT_CAT_USER, GT_LAYER_USER, GT_R_NONE);
	p->overhead = type(p, "overhead", GT_CAT_OTHER, GT_LAYER_OVERHEAD, GT_R_NONE);
	if (off_cpu)
		p->off = gt_writer_type(p->w,
			&(struct gt_type){ .name = gt_writer_string(p->w, "futex"),
				.category = GT_CAT_LOCK,
				.op = GT_OP_OFF_CPU,
				.layer = GT_LAYER_SCHED });
	p->name = gt_writer_string(p->w, "cuLaunchKernel");
}

static inline void put(struct program *p, enum gt_kind kind, uint32_t on, uint32_t ty,
	int64_t start, int64_t end, unsigned depth)
{
	struct gt_row row = { start, end, ty, kind == GT_CALL && !below(200) ? 700 : 0,
		(uint8_t)depth, ty == p->alloc };

	CHECK(!gt_writer_row(p->w, kind, on, &row, (uint64_t[]){ below(1000) }, &p->err));
}

/* A call, calls in it, ioctls in these. Returns when it ends. Which of a thread's calls come first
 * in the file is the end's order. */
static inline int64_t nest(struct program *p, uint32_t on, int64_t start, unsigned depth)
{
	int64_t end = start + 1 + below(40);
	bool ioctl = depth && !below(4); /* in which no call is */

	for (unsigned n = depth < 10 && !ioctl ? below(3) : 0; n; n--)
		end = nest(p, on, end + below(9), depth + 1) + below(5);
	put(p, GT_CALL, on, ioctl ? p->ioctl : below(3) ? p->call : p->alloc, start, end, depth);
	return end;
}

static inline void gpu_work(struct program *p, unsigned stream)
{
	struct gt_gpu_work w = {
		.track = p->streams[stream], .start = p->now - (int64_t)below(400), .context = 1
	};

	if (below(3)) {
		unsigned th = below(3);

		w.cause = (struct gt_gpu_cause){ GT_JOIN_CORRELATION, p->threads[th], p->name,
			p->last[th], 5, 0 };
	}
	w.end = w.start + (below(50) ? below(300) : below(40000));
	if (below(3))
		CHECK(!gt_gpu_put_kernel(&p->types, &w,
			&(struct gt_gpu_kernel){
				.name = p->name, .grid = { 1, 1, 1 }, .block = { 1, 1, 1 } },
			&p->err));
	else if (below(5))
		CHECK(!gt_gpu_put_copy(&p->types, &w,
			&(struct gt_gpu_copy){ .direction = below(6), .bytes = below(5000) },
			&p->err));
	else
		CHECK(!gt_gpu_put_wait(&p->types, &w,
			&(struct gt_gpu_waiting){ GT_GPU_WAIT_STREAM, GT_GPU_NO_EVENT }, &p->err));
}

/* Calls that never return: in the busiest thread with an ioctl in them, in another one deeper than
 * there are lanes, in a quiet one since long. */
static inline void leave_open(struct program *p, const int64_t *free_at)
{
	static const struct {
		unsigned thread, depths;
	} open[] = { { 0, 3 }, { 1, 1 }, { 4, 10 }, { 11, 1 } };

	for (unsigned i = 0; i < 12; i++)
		p->now = free_at[i] + 100 > p->now ? free_at[i] + 100 : p->now;
	for (unsigned i = 0; i < sizeof(open) / sizeof(open[0]); i++)
		for (unsigned d = 0; d < open[i].depths; d++) {
			int64_t begin =
				free_at[open[i].thread] ? free_at[open[i].thread] : p->now - 30000;
			struct gt_row row = { .start = begin + 1 + 7 * d,
				.type = d == 2 ? p->ioctl : p->call,
				.depth = (uint8_t)d };

			CHECK(!gt_writer_open_call(
				p->w, p->threads[open[i].thread], &row, NULL, &p->err));
			p->now = row.start + 300 > p->now ? row.start + 300 : p->now;
		}
	CHECK(!gt_writer_epoch(p->w, p->now, &p->err));
}

/* Threads take turns; the first four are busy, others make a call from time to time. */
static inline void make(int fd, const char *boot, int64_t now, unsigned turns)
{
	int64_t free_at[12] = { 0 };
	struct program p;

	begin(&p, fd, boot, now);
	for (unsigned i = 0; i < turns; i++) {
		unsigned th = below(400) ? below(3) : below(12);
		int64_t start = p.now > free_at[th] ? p.now : free_at[th];

		p.last[th] = start;
		free_at[th] = nest(&p, p.threads[th], start, 0) + 1;
		if (!below(3))
			gpu_work(&p, below(30) ? 0 : below(3));
		if (!below(5))
			put(&p, GT_SPAN, p.threads[below(3)], p.range, p.now - (int64_t)below(500),
				p.now + below(50), below(3));
		if (!below(500))
			put(&p, GT_SPAN, p.process, p.overhead, p.now - (int64_t)below(5000), p.now,
				0);
		if (off_cpu && !below(3))
			put(&p, GT_SPAN, p.threads[below(3)], p.off, p.now - (int64_t)below(90),
				p.now, 0);
		p.now += below(60);
		if (!below(turns / 6))
			CHECK(!gt_writer_epoch(p.w, p.now, &p.err));
	}
	leave_open(&p, free_at);
	gt_gpu_types_release(&p.types);
	CHECK(!gt_writer_close(p.w, &p.err));
}

/* Spoils the content of the block that has this number: the last byte of its frame. */
static inline void break_block(int fd, uint32_t number)
{
	struct gt_wire_skip skip;
	struct gt_wire_block head;
	uint64_t at = sizeof(struct gt_wire_segment);
	uint8_t byte;

	for (;;) {
		CHECK(pread(fd, &skip, sizeof(skip), (off_t)at) == sizeof(skip) &&
			pread(fd, &head, sizeof(head), (off_t)(at + sizeof(skip))) == sizeof(head));
		if (head.magic == GT_WIRE_BLOCK_MAGIC && head.number == number)
			break;
		at += head.magic == GT_WIRE_BLOCK_MAGIC ? GT_WIRE_HEAD + head.zbytes : 1;
	}
	at += GT_WIRE_HEAD + head.zbytes / 2;
	CHECK_EQ(pread(fd, &byte, 1, (off_t)at), 1);
	byte ^= 0x55;
	CHECK_EQ(pwrite(fd, &byte, 1, (off_t)at), 1);
}
#endif
