/* Cost of viewing a large trace: the time until the first frame of a file that is not in the page
 * cache, processor time of each later frame at every zoom level, and memory. The trace is that of
 * eight training processes with a GPU each: two threads, one in ten of whose calls launches a
 * kernel or a copy, two streams that are busy most of the time. Its operations are random, so
 * nothing repeats. It has 100 million events. BENCH_LARGE=1 adds a file of 10 GB, if the disk has
 * space for it; most of its calls have arguments, as copies do. A third trace has one process with
 * one thread and one stream, whose calls are those of the process.
 *
 * The bench removes the file from the page cache and checks that no page is left. A frame is 240
 * columns wide with up to 58 lanes: threads, streams, and the sums of all threads of a process or
 * all streams of a GPU, which require all of them. Then about five hundred keys are pressed in a
 * viewer of that size with all of its panes. Then the file is followed as if it were being written:
 * the whole run is shown repeatedly, each time with a little more of it. Without the file's end
 * there are no sums except those of blocks. LEVELS=1 prints the cost of each zoom level and each
 * growth on stderr; TRACE names a file to measure instead of these. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "formats/cuda/gpu_rows.h"
#include "formats/trace/write/writer.h"
#include "tests/unit/viewer/key_script.h"
#include "viewer/app/ui.h"

#define RANKS 8u
#define EACH 2u   /* threads of a rank, and streams */
#define BURST 64u /* calls of a thread before the next one continues */
#define NAMES 40u
#define WIDTH 240u
#define LANES 58u /* of a screen of 60 lines */
#define FRAMES 40 /* frames of a window before the next window: one second */
#define RUNS 5
#define LARGE (10ull << 30)

static uint64_t seed = 1;
static uint64_t random_bits(void)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return seed >> 17;
}
static uint32_t rnd(uint32_t below) { return (uint32_t)((random_bits() >> 15) * below >> 32); }

/* ---- the trace ---- */

/* If events is 0: until the file has `bytes`. with_args: number of calls with arguments, of 16. */
struct shape {
	unsigned ranks, each; /* at most RANKS, EACH */
	uint64_t events, bytes;
	unsigned with_args;
};
struct rank {
	uint32_t thread[EACH], stream[EACH];
	int64_t now[EACH], tail[EACH];
};
struct node {
	struct gt_writer *w;
	struct gt_gpu_types types;
	struct rank ranks[RANKS];
	uint32_t get, copy, launch, launch_name, kernels[NAMES];
	struct gt_err *err;
};

static uint32_t track(struct node *n, uint32_t parent, const char *name, unsigned kind, int64_t id)
{
	return gt_writer_track(n->w,
		&(struct gt_track){ .parent = parent,
			.name = gt_writer_string(n->w, name),
			.source = gt_writer_string(n->w, "preload"),
			.kind = (uint8_t)kind,
			.id = id,
			.ns_id = id });
}

static void make_tracks(struct node *n, const struct shape *shape)
{
	for (unsigned r = 0; r < shape->ranks; r++) {
		uint32_t process = track(n, GT_NONE, "train", GT_TRACK_PROCESS, 1000 + r), device;

		for (unsigned i = 0; i < shape->each; i++)
			n->ranks[r].thread[i] =
				track(n, process, "thread", GT_TRACK_THREAD, 2000 + r * EACH + i);
		device = track(n, process, "GPU", GT_TRACK_DEVICE, r);
		for (unsigned i = 0; i < shape->each; i++)
			n->ranks[r].stream[i] = track(n, device, "stream", GT_TRACK_STREAM, 7 + i);
	}
}

static void make_types(struct node *n)
{
	struct gt_field fields[] = { { gt_writer_string(n->w, "dst"), GT_F_HEX, GT_R_DST },
		{ gt_writer_string(n->w, "src"), GT_F_HEX, GT_R_SRC },
		{ gt_writer_string(n->w, "bytes"), GT_F_U64, GT_R_BYTES } };
	char name[64];

	n->get = gt_writer_type(n->w,
		&(struct gt_type){ .name = gt_writer_string(n->w, "cuCtxGetDevice"),
			.category = GT_CAT_QUERY });
	n->copy = gt_writer_type(n->w,
		&(struct gt_type){ .name = gt_writer_string(n->w, "cuMemcpyAsync"),
			.category = GT_CAT_COPY,
			.op = GT_OP_COPY,
			.nfields = 3,
			.fields = fields });
	n->launch_name = gt_writer_string(n->w, "cuLaunchKernel");
	n->launch = gt_writer_type(n->w,
		&(struct gt_type){
			.name = n->launch_name, .category = GT_CAT_LAUNCH, .op = GT_OP_LAUNCH });
	for (unsigned i = 0; i < NAMES; i++) {
		snprintf(name, sizeof(name), "_Z8kernel%02uPfS_i", i);
		n->kernels[i] = gt_writer_string(n->w, name);
	}
	n->types.w = n->w;
}

/* The work of a call: mostly a kernel, sometimes a copy. */
static int put_work(struct node *n, struct rank *r, unsigned th, const struct gt_row *call)
{
	int64_t start =
		call->end + 1500 > r->tail[th] ? call->end + 1500 : r->tail[th] + 100 + rnd(700);
	struct gt_gpu_work w = { .track = r->stream[th],
		.start = start,
		.end = start + 1500 + rnd(2500),
		.context = 1,
		.cause = { GT_JOIN_CORRELATION, r->thread[th], n->launch_name, call->start,
			(uint64_t)(call->end - call->start) } };

	r->tail[th] = w.end;
	if (!rnd(8))
		return gt_gpu_put_copy(&n->types, &w,
			&(struct gt_gpu_copy){ .direction = rnd(2) ? GT_DIR_HTOD : GT_DIR_DTOH,
				.src = GT_GPU_MEM_PINNED,
				.dst = GT_GPU_MEM_DEVICE,
				.async = true,
				.bytes = rnd(1u << 22) },
			n->err);
	return gt_gpu_put_kernel(&n->types, &w,
		&(struct gt_gpu_kernel){ .name = n->kernels[rnd(NAMES)],
			.grid = { 64, 1, 1 },
			.block = { 256, 1, 1 } },
		n->err);
}

/* Returns the number of events, or a negative number. */
static int put_call(struct node *n, struct rank *r, unsigned th, uint64_t i, unsigned with_args)
{
	bool works = i % 10 == 0, args = !works && (i & 15) < with_args;
	struct gt_row row = { .start = r->now[th],
		.type = works  ? n->launch
			: args ? n->copy
			       : n->get,
		.nargs = args ? 3 : 0 };
	uint64_t values[3] = { random_bits(), random_bits(), rnd(1u << 22) };
	int code;

	row.end = row.start + (works ? 2500 + rnd(2000) : 20 + rnd(100));
	r->now[th] = row.end + 60 + rnd(400);
	code = gt_writer_row(n->w, GT_CALL, r->thread[th], &row, values, n->err);
	if (!code && works)
		code = put_work(n, r, th, &row);
	if (!code && gt_writer_epoch_is_due(n->w, row.end))
		code = gt_writer_epoch(n->w, row.end, n->err);
	return code ? code : 1 + works;
}

static int make(const char *path, const struct shape *shape, struct gt_err *err)
{
	struct gt_writer_options o = { .meta_json = "{\"events\":\"api,gpu\"}", .level = 1 };
	struct node n = { .err = err };
	uint64_t made = 0, i = 0;
	int got = 1;

	n.w = gt_writer_open(open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600), &o, err);
	if (!n.w)
		return -1;
	make_tracks(&n, shape);
	make_types(&n);
	for (; got > 0 &&
		(shape->events ? made < shape->events : gt_writer_stats(n.w)->bytes < shape->bytes);
		i++) {
		got = put_call(&n, &n.ranks[i / BURST / shape->each % shape->ranks],
			(unsigned)(i / BURST % shape->each), i, shape->with_args);
		made += (uint64_t)got;
	}
	gt_gpu_types_release(&n.types);
	if (got < 0)
		gt_writer_abandon(n.w);
	return got < 0 ? got : gt_writer_close(n.w, err);
}

/* ---- measuring ---- */

static double now_ms(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int by_size(const void *pa, const void *pb)
{
	double a = *(const double *)pa, b = *(const double *)pb;

	return (a > b) - (a < b);
}

static double median(double *all, size_t n)
{
	qsort(all, n, sizeof(*all), by_size);
	return all[n / 2];
}

/* Pages of the file in the page cache, in percent; negative if unknown. */
static int page_cache_percent(int fd, size_t bytes)
{
	size_t pages = (bytes + 4095) / 4096, n = 0;
	unsigned char *which = malloc(pages + 1);
	void *map = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
	bool known = which && map != MAP_FAILED && !mincore(map, bytes, which);

	for (size_t i = 0; known && i < pages; i++)
		n += which[i] & 1;
	if (map != MAP_FAILED)
		munmap(map, bytes);
	free(which);
	return known ? (int)(n * 100 / (pages + !pages)) : -1;
}

/* Returns 0, or -1 if the system keeps the file in memory (the folder may be a RAM disk). */
static int drop_page_cache(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), in_memory = 100;
	struct stat st;

	if (fd >= 0 && !fstat(fd, &st) && !fdatasync(fd) &&
		!posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED))
		in_memory = page_cache_percent(fd, (size_t)st.st_size);
	if (fd >= 0)
		close(fd);
	if (!in_memory)
		return 0;
	fprintf(stderr, "%s stays in memory (%d %%): this needs a TMPDIR on a disk\n", path,
		in_memory);
	return -1;
}

struct view { /* a view of a trace */
	struct gt_reader *reader;
	struct gt_archive *archive;
	struct gt_lane_cells *strips;
	struct gt_strip_key of[LANES];
	size_t n;
	struct gt_cell_sums cells[WIDTH];
	struct gt_err err;
};

static void add(struct view *l, uint32_t segment, uint32_t t, enum gt_aspect aspect, bool derived)
{
	if (l->n < LANES)
		l->of[l->n++] = (struct gt_strip_key){ segment, t, aspect, derived };
}

static void choose_lanes(struct view *l)
{
	for (uint32_t s = 0; s < gt_reader_segments(l->reader); s++)
		for (uint32_t t = 0; t < gt_reader_segment(l->reader, s)->ntracks; t++)
			switch (gt_reader_segment(l->reader, s)->tracks[t].kind) {
			case GT_TRACK_PROCESS: add(l, s, t, GT_ASPECT_CALLS, true); break;
			case GT_TRACK_THREAD: add(l, s, t, GT_ASPECT_CALLS, false); break;
			case GT_TRACK_STREAM: add(l, s, t, GT_ASPECT_WORK, false); break;
			case GT_TRACK_DEVICE:
				add(l, s, t, GT_ASPECT_WORK, true);
				add(l, s, t, GT_ASPECT_HTOD, true);
				add(l, s, t, GT_ASPECT_DTOH, true);
			}
}

static void read_cells(struct view *l)
{
	for (size_t i = 0; i < l->n; i++)
		gt_lane_cells_get(l->strips, i, 0, l->cells);
}

/* Draws a frame of a window, as exact as it is known at once. Returns 1 if it can become more
 * exact, 0, or a negative number. */
static int draw_frame(struct view *l, const struct gt_cell_window *w)
{
	int more = gt_lane_cells_request(l->strips, w, l->of, l->n, &l->err);

	if (more >= 0)
		more = gt_lane_cells_step(l->strips, GT_UI_STEP_US, &l->err);
	read_cells(l);
	return more;
}

/* the cell size at which WIDTH cells cover the whole trace */
static unsigned whole_shift(const struct view *l)
{
	int64_t from, to;
	unsigned shift = 0;

	gt_archive_extent(l->archive, &from, &to);
	while ((uint64_t)(to - from) >> shift >= WIDTH)
		shift++;
	return shift;
}

static int open_view(struct view *l, const char *path)
{
	struct gt_time_extent e = { .widest = 60, .rows = UINT32_MAX };
	struct gt_cell_window w = { .cells = WIDTH };

	l->err = (struct gt_err)GT_ERR_INIT;
	l->reader = gt_reader_open(path, &l->err);
	l->archive = l->reader ? gt_archive_open(l->reader, &l->err) : NULL;
	l->strips = l->archive ? gt_lane_cells_new(l->archive) : NULL;
	if (!l->strips)
		return -1;
	choose_lanes(l);
	gt_archive_extent(l->archive, &e.from, &e.to);
	e.to++;
	e.finest = gt_archive_finest_bucket(l->archive);
	gt_window_fit(&w, &e);
	return draw_frame(l, &w);
}

struct frame_times {
	double frames[20000];
	size_t n;
	double worst;
	unsigned worst_shift;
};

static void add_frame(struct frame_times *f, double ms, unsigned shift)
{
	if (f->n < sizeof(f->frames) / sizeof(*f->frames))
		f->frames[f->n++] = ms;
	if (ms > f->worst) {
		f->worst = ms;
		f->worst_shift = shift;
	}
}

/* Moves to a window and draws until all of it is exact, or FRAMES times. A user may wait for any
 * of these frames. Returns 1 if it was left before it was exact. */
static int draw_until_exact(struct view *l, const struct gt_cell_window *w, struct frame_times *f)
{
	double before = now_ms(CLOCK_PROCESS_CPUTIME_ID), now;
	int more = draw_frame(l, w);

	for (unsigned i = 0;; i++, before = now) {
		now = now_ms(CLOCK_PROCESS_CPUTIME_ID);
		add_frame(f, now - before, gt_window_log2(w));
		if (more <= 0 || i == FRAMES)
			break;
		more = gt_lane_cells_step(l->strips, GT_UI_STEP_US, &l->err);
		read_cells(l);
	}
	return more;
}

/* Zooms in from the whole trace to single ns; at each level moves right by 8 cells, twice, and by a
 * page. */
static int zoom_through(struct view *l, struct frame_times *f)
{
	static const int pans[] = { 0, 8, 8, WIDTH };
	int64_t from, to;
	int code = 0;

	gt_archive_extent(l->archive, &from, &to);
	for (unsigned shift = whole_shift(l) + 1; code >= 0 && shift--;) {
		int64_t at = ((from + (to - from) / 3) >> shift) - WIDTH / 2;
		size_t first = f->n;
		double worst = 0;
		unsigned left = 0;

		for (size_t p = 0; code >= 0 && p < sizeof(pans) / sizeof(*pans); p++) {
			struct gt_cell_window w = gt_aligned_window(at += pans[p], shift, WIDTH);

			code = draw_until_exact(l, &w, f);
			left += code > 0;
		}
		for (size_t i = first; i < f->n; i++)
			worst = f->frames[i] > worst ? f->frames[i] : worst;
		if (getenv("LEVELS"))
			fprintf(stderr,
				"cells of 2^%u ns: %zu frames, the slowest %.2f ms; "
				"%u windows left before they were exact\n",
				shift, f->n - first, worst, left);
	}
	return code;
}

/* ---- as a user ---- */

#define STEPS_MOST 5 /* between two keys */

/* Presses keys that zoom from the whole trace to single ns and back, pan at each level, and move
 * and fold lanes. A user may wait for each key with the work before its frame, and for each portion
 * of work after it. Reading in other threads is not included. */
static int press_keys(const char *path, struct frame_times *f)
{
	static const char *const scripts[] = { "w", "d", "L", "w", "a", "j", "b", "s", "w", "B",
		"A", "w" };
	struct gt_err err = GT_ERR_INIT;
	struct gt_reader *r = gt_reader_open(path, &err);
	static struct gt_ui v;
	struct gt_screen screen = { .ascii = false };
	int code = r ? gt_ui_open(&v, r, path, gt_views[0], &err) : -1;

	if (!code)
		code = gt_ui_resize(&v, WIDTH, LANES + 2, &err);
	for (unsigned i = 0; !code && i < 40 * sizeof(scripts) / sizeof(*scripts); i++) {
		struct key_script script = {
			.at = i == 300 ? "r" : scripts[i % (sizeof(scripts) / sizeof(*scripts))]
		};
		double before = now_ms(CLOCK_THREAD_CPUTIME_ID), now;
		struct gt_key k;
		int more = 1;

		if (key_script_next(&script, &k) > 0)
			code = gt_ui_key(&v, k, &err);
		for (unsigned n = 0; !code && more > 0 && n < STEPS_MOST; n++, before = now) {
			more = gt_ui_step(&v, GT_UI_STEP_US, &err);
			gt_ui_draw(&v, &screen);
			now = now_ms(CLOCK_THREAD_CPUTIME_ID);
			add_frame(f, now - before, gt_window_log2(&v.scene.window));
			code = more < 0 ? more : 0;
		}
	}
	gt_ui_close(&v);
	gt_reader_close(r);
	gt_screen_release(&screen);
	return code;
}

/* ---- while it grows ---- */

#define GROWTHS 12
/* each growth is this part of the whole: a second of a run of minutes */
#define GROWTH_PARTS 100

/* Until all is known. A key may have to wait for each portion. */
static int finish_work(
	struct gt_ui *v, struct gt_screen *screen, struct frame_times *f, struct gt_err *err)
{
	int more = 1;

	while (more > 0 && v->busy) {
		double before = now_ms(CLOCK_THREAD_CPUTIME_ID);

		more = gt_ui_step(v, GT_UI_STEP_US, err);
		gt_ui_draw(v, screen);
		add_frame(f, now_ms(CLOCK_THREAD_CPUTIME_ID) - before,
			gt_window_log2(&v->scene.window));
	}
	return more < 0 ? more : 0;
}

/* For each growth: the processor time until all of it is shown, and of its longest portion. */
static int grow(const char *path, double *all, struct frame_times *f)
{
	static struct gt_ui v;
	struct gt_err err = GT_ERR_INIT;
	struct gt_screen screen = { .ascii = false };
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC), code = fstat(fd, &st);
	uint64_t each = (uint64_t)st.st_size / GROWTH_PARTS;
	struct gt_reader *r = code
		? NULL
		: gt_reader_open_growing(fd, (uint64_t)st.st_size - (GROWTHS + 1) * each, &err);

	code = r ? gt_ui_open(&v, r, path, gt_views[0], &err) : -1;
	if (!code)
		gt_scene_set_growing(&v.scene, true);
	if (!code)
		code = gt_ui_resize(&v, WIDTH, LANES + 2, &err);
	for (unsigned i = 0; !code && i <= GROWTHS; i++) {
		double before = now_ms(CLOCK_PROCESS_CPUTIME_ID),
		       mine = now_ms(CLOCK_THREAD_CPUTIME_ID), again = mine;

		if (i) {
			gt_ui_detach(&v);
			code = gt_reader_grow(r, each, &err) > 0 ? gt_ui_reopen(&v, r, &err) : -1;
			again = now_ms(CLOCK_THREAD_CPUTIME_ID);
			add_frame(f, again - mine, gt_window_log2(&v.scene.window));
		}
		code = code ? code : finish_work(&v, &screen, f, &err);
		if (i)
			all[i - 1] = now_ms(CLOCK_THREAD_CPUTIME_ID) - mine;
		else
			*f = (struct frame_times){ .n = 0 };
		if (getenv("LEVELS"))
			fprintf(stderr,
				"growth %u: %.1f ms of the viewer's thread, %.1f of all; reopened in %.1f\n",
				i, now_ms(CLOCK_THREAD_CPUTIME_ID) - mine,
				now_ms(CLOCK_PROCESS_CPUTIME_ID) - before, again - mine);
	}
	gt_ui_close(&v);
	gt_reader_close(r);
	gt_screen_release(&screen);
	return code;
}

/* ---- separate processes, so that memory is that of one view ---- */

enum what { FIRST, FRAME_AFTER_FRAME, KEYS, GROWTH };
struct part_figures {
	double first_ms, worst_ms, median_ms, rss_mib;
	unsigned worst_shift;
	double growths[GROWTHS];
};

static int measure_part(const char *path, enum what what, struct part_figures *a)
{
	static struct view l;
	static struct frame_times f;
	double began = now_ms(CLOCK_MONOTONIC);
	int code = what == KEYS  ? press_keys(path, &f)
		: what == GROWTH ? grow(path, a->growths, &f)
				 : open_view(&l, path);
	struct rusage u;

	a->first_ms = now_ms(CLOCK_MONOTONIC) - began;
	if (code >= 0 && what == FRAME_AFTER_FRAME)
		code = zoom_through(&l, &f);
	if (code < 0)
		gt_err_print("bench_view", path, &l.err);
	getrusage(RUSAGE_SELF, &u);
	a->rss_mib = (double)u.ru_maxrss / 1024;
	a->worst_ms = f.worst;
	a->worst_shift = f.worst_shift;
	a->median_ms = f.n ? median(f.frames, f.n) : 0;
	return code < 0 ? code : 0;
}

static int run_part(const char *path, enum what what, struct part_figures *a)
{
	int channel[2], status;
	pid_t pid;

	if (drop_page_cache(path) || pipe(channel))
		return -1;
	fflush(stdout);
	pid = fork();
	if (!pid) {
		struct part_figures mine = { 0 };
		int code = measure_part(path, what, &mine);

		_exit(code || write(channel[1], &mine, sizeof(mine)) != sizeof(mine));
	}
	close(channel[1]);
	status = pid < 0 || read(channel[0], a, sizeof(*a)) != sizeof(*a) ? -1 : 0;
	close(channel[0]);
	return pid < 0 || waitpid(pid, NULL, 0) != pid ? -1 : status;
}

/* The whole program, from its start to its end: one frame as text; and its processor time. Negative
 * if it is not built, or failed. */
static double program_ms(const char *path, double *cpu_ms)
{
	const char *build = getenv("B");
	char program[4096];
	double all[RUNS], cpu[RUNS];
	struct rusage used;

	snprintf(program, sizeof(program), "%s/gtview", build ? build : "build");
	for (int i = 0; i < RUNS; i++) {
		double began;
		int status;
		pid_t pid;

		if (access(program, X_OK) || drop_page_cache(path))
			return -1;
		fflush(stdout);
		began = now_ms(CLOCK_MONOTONIC);
		pid = fork();
		if (!pid) {
			if (freopen("/dev/null", "w", stdout))
				execl(program, program, "--render", "240x60", path, (char *)NULL);
			_exit(127);
		}
		if (pid < 0 || wait4(pid, &status, 0, &used) != pid || status)
			return -1;
		all[i] = now_ms(CLOCK_MONOTONIC) - began;
		cpu[i] = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e3 +
			(double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e3;
	}
	*cpu_ms = median(cpu, RUNS);
	return median(all, RUNS);
}

static int measure_program(const char *path, const char *name)
{
	double cpu, program = program_ms(path, &cpu);

	if (program >= 0)
		printf("%s_program_ms %.1f ms\n%s_program_cpu_ms %.1f ms\n", name, program, name,
			cpu);
	return 0;
}

static int measure(const char *path, const char *name)
{
	double first[RUNS], growth;
	struct part_figures a, k, g;

	measure_program(path, name);
	for (int i = 0; i < RUNS; i++) {
		if (run_part(path, FIRST, &a))
			return -1;
		first[i] = a.first_ms;
	}
	if (run_part(path, FRAME_AFTER_FRAME, &a) || run_part(path, KEYS, &k) ||
		run_part(path, GROWTH, &g))
		return -1;
	printf("%s_first_frame_ms %.1f ms\n%s_frame_worst_cpu_ms %.2f ms\n%s_frame_median_cpu_ms %.2f ms\n%s_frame_worst_at %u log2(ns)\n"
	       "%s_key_worst_cpu_ms %.2f ms\n%s_key_median_cpu_ms %.2f ms\n%s_key_worst_at %u log2(ns)\n%s_rss_mib %.1f MiB\n",
		name, median(first, RUNS), name, a.worst_ms, name, a.median_ms, name, a.worst_shift,
		name, k.worst_ms, name, k.median_ms, name, k.worst_shift, name,
		k.rss_mib > a.rss_mib ? k.rss_mib : a.rss_mib);
	growth = median(g.growths, GROWTHS); /* sorts them */
	printf("%s_growth_cpu_ms %.1f ms\n%s_growth_slowest_cpu_ms %.1f ms\n%s_growth_portion_worst_cpu_ms %.2f ms\n%s_growth_rss_mib %.1f MiB\n",
		name, growth, name, g.growths[GROWTHS - 1], name, g.worst_ms, name, g.rss_mib);
	return 0;
}

static int make_and_measure(const char *path, const struct shape *shape, const char *name,
	int (*measure_it)(const char *path, const char *name))
{
	struct gt_err err = GT_ERR_INIT;
	int code = make(path, shape, &err);

	if (code)
		gt_err_print("bench_view", path, &err);
	else
		code = measure_it(path, name);
	if (!getenv("KEEP"))
		unlink(path);
	return code;
}

/* Twice the file's size, because the writer's temporary files are small, and the disk must not
 * become full. */
static bool has_disk_space(void)
{
	struct statvfs v;

	return !statvfs(".", &v) && v.f_bavail * (uint64_t)v.f_frsize > 2 * LARGE;
}

int main(void)
{
	static const struct shape normal = { RANKS, EACH, .events = 100000000, .with_args = 1 },
				  large = { RANKS, EACH, .bytes = LARGE, .with_args = 14 },
				  thread = { 1, 1, .events = 22000000, .with_args = 1 };
	const char *trace = getenv("TRACE"), *asked = getenv("BENCH_LARGE");
	int code;

	if (trace)
		return measure(trace, "view") ? 1 : 0;
	code = make_and_measure("view.zst", &normal, "view", measure);
	if (!code)
		code = make_and_measure("thread.zst", &thread, "view_thread", measure_program);
	if (!code && asked && *asked == '1' && has_disk_space())
		code = make_and_measure("large.zst", &large, "view_large", measure);
	return code ? 1 : 0;
}
