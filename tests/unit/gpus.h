/* Traces of GPUs: a program of two threads with two devices of two streams each, whose rows
 * formats/cuda/gpu_rows.h writes. The includer defines _GNU_SOURCE (memfd_create). */
#ifndef GPUS_H
#define GPUS_H
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "formats/cuda/gpu_rows.h"
#include "formats/trace/read/reader.h"

/* of each device: 0: streams stand below it; 1; 2: one for each of its streams */
static unsigned gpus_contexts __attribute__((unused));
static const char *gpus_boot __attribute__((unused)) = "b"; /* recordings of one have one clock */
struct gpus {
	int fd;
	struct gt_writer *w;
	struct gt_gpu_types types;
	struct gt_err err;
	uint32_t process, thread[2], device[2], stream[2][2], launch, counter, kernel[2],
		launch_name;
};

static inline uint32_t gpus_track(
	struct gpus *g, uint32_t parent, const char *name, unsigned kind, int64_t id)
{
	return gt_writer_track(g->w,
		&(struct gt_track){ .parent = parent,
			.name = name ? gt_writer_string(g->w, name) : GT_NONE,
			.source = gt_writer_string(g->w, "cupti"),
			.kind = (uint8_t)kind,
			.id = id,
			.ns_id = id });
}

/* Nothing but tracks, of one device or two: no call was looked at. */
static inline void gpus_begin_tracks(struct gpus *g, const char *meta, int devices)
{
	struct gt_writer_options o = { .host = "node1", .boot_id = gpus_boot, .meta_json = meta };

	memset(g, 0, sizeof(*g));
	g->err.offset = GT_NO_OFFSET;
	g->fd = memfd_create("trace", 0);
	g->w = gt_writer_open(dup(g->fd), &o, &g->err);
	g->types.w = g->w;
	g->process = gpus_track(g, GT_NONE, "train", GT_TRACK_PROCESS, 100);
	for (int i = 0; i < 2; i++)
		g->thread[i] =
			gpus_track(g, g->process, i ? NULL : "main", GT_TRACK_THREAD, 100 + i);
	for (int i = 0; i < devices; i++) {
		g->device[i] = gpus_track(g, g->process, i ? NULL : "H200", GT_TRACK_DEVICE, i);
		for (uint32_t k = 0, up = g->device[i]; k < 2; k++) {
			if (k < gpus_contexts)
				up = gpus_track(g, g->device[i], NULL, GT_TRACK_CONTEXT, k + 1);
			g->stream[i][k] = gpus_track(
				g, up, i || k ? NULL : "compute", GT_TRACK_STREAM, 7 + k);
		}
	}
	g->kernel[0] = gt_writer_string(g->w, "_Z3addPf");
	g->kernel[1] = gt_writer_string(g->w, "_Z3mulPf");
}

static inline void gpus_begin_bare(struct gpus *g, const char *meta)
{
	gpus_begin_tracks(g, meta, 2);
}

static inline void gpus_begin_with(struct gpus *g, const char *meta, int devices)
{
	struct gt_type type = { .category = GT_CAT_LAUNCH, .op = GT_OP_LAUNCH };
	struct gt_field value;

	gpus_begin_tracks(g, meta, devices);
	g->launch_name = type.name = gt_writer_string(g->w, "cuLaunchKernel");
	g->launch = gt_writer_type(g->w, &type);
	value = (struct gt_field){ gt_writer_string(g->w, "value"), GT_F_F64, GT_R_VALUE };
	type = (struct gt_type){
		.name = gt_writer_string(g->w, "power"), .fields = &value, .nfields = 1
	};
	g->counter = gt_writer_type(g->w, &type);
}

static inline void gpus_begin(struct gpus *g, const char *meta) { gpus_begin_with(g, meta, 2); }

static inline struct gt_gpu_work gpus_work(uint32_t stream, int64_t start, int64_t end)
{
	return (struct gt_gpu_work){
		.track = stream, .start = start, .end = end, .correlation = 5, .context = 1
	};
}

static inline void gpus_call(struct gpus *g, int thread, uint32_t type, int64_t start, int64_t end)
{
	struct gt_row row = { .start = start, .end = end, .type = type };

	gt_writer_row(g->w, GT_CALL, g->thread[thread], &row, NULL, &g->err);
}

/* The call that launched it: it is written, too. */
static inline void gpus_launched(struct gpus *g, struct gt_gpu_work *w, int thread, int64_t start,
	int64_t ns, enum gt_join join)
{
	gpus_call(g, thread, g->launch, start, start + ns);
	w->cause = (struct gt_gpu_cause){ .join = join,
		.track = g->thread[thread],
		.name = g->launch_name,
		.start = start,
		.ns = (uint64_t)ns };
}

static inline void gpus_kernel(struct gpus *g, int kernel, const struct gt_gpu_work *w)
{
	gt_gpu_put_kernel(&g->types, w,
		&(struct gt_gpu_kernel){ .name = g->kernel[kernel],
			.grid = { 8, 2, 1 },
			.block = { 256, 1, 1 },
			.shared_static = 48,
			.shared_dynamic = 1000,
			.registers = 32 },
		&g->err);
}

static inline void gpus_plain(
	struct gpus *g, int kernel, uint32_t stream, int64_t start, int64_t end)
{
	struct gt_gpu_work w = gpus_work(stream, start, end);

	gpus_kernel(g, kernel, &w);
}

static inline void gpus_copy(struct gpus *g, const struct gt_gpu_work *w,
	enum gt_direction direction, enum gt_gpu_memory src, enum gt_gpu_memory dst, uint64_t bytes)
{
	gt_gpu_put_copy(&g->types, w,
		&(struct gt_gpu_copy){ .direction = direction,
			.src = src,
			.dst = dst,
			.async = true,
			.bytes = bytes,
			.src_device = 0,
			.dst_device = 1 },
		&g->err);
}

static inline void gpus_set(struct gpus *g, const struct gt_gpu_work *w, uint64_t bytes)
{
	gt_gpu_put_set(&g->types, w,
		&(struct gt_gpu_set){ .memory = GT_GPU_MEM_DEVICE, .bytes = bytes, .value = 255 },
		&g->err);
}

static inline void gpus_wait(
	struct gpus *g, const struct gt_gpu_work *w, enum gt_gpu_wait what, uint32_t event)
{
	gt_gpu_put_wait(
		&g->types, w, &(struct gt_gpu_waiting){ .what = what, .event = event }, &g->err);
}

/* A call of the CUDA runtime around a driver call, as CUPTI records it. */
static inline void gpus_runtime_call(struct gpus *g, int64_t start, int64_t end)
{
	struct gt_field correlation = { gt_writer_string(g->w, "correlation"), GT_F_U64,
		GT_R_CORRELATION };
	struct gt_type type = { .name = gt_writer_string(g->w, "cudaLaunchKernel"),
		.layer = GT_LAYER_RUNTIME,
		.nfields = 1,
		.fields = &correlation };
	struct gt_row row = {
		.start = start, .end = end, .type = gt_writer_type(g->w, &type), .nargs = 1
	};

	gt_writer_row(g->w, GT_SPAN, g->thread[0], &row, &(uint64_t){ 5 }, &g->err);
}

static inline void gpus_sample(struct gpus *g, uint32_t track, int64_t at, double value)
{
	struct gt_row row = { .start = at, .end = at, .type = g->counter, .nargs = 1 };
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	gt_writer_row(g->w, GT_COUNTER, track, &row, &bits, &g->err);
}

static inline char *gpus_without(char *text, const char *before, const char *word)
{
	size_t n = strlen(word), behind = strlen(before);
	char *to = text;

	for (const char *from = text; text && *from;)
		if ((size_t)(to - text) >= behind && !memcmp(to - behind, before, behind) &&
			!strncmp(from, word, n))
			from += n + strspn(from + n, "0123456789");
		else
			*to++ = *from++;
	if (text)
		*to = 0;
	return text;
}

/* Removes the names of contexts from a text. */
static inline char *gpus_without_contexts(char *text)
{
	return gpus_without(
		gpus_without(text, "", " of context "), "\"track\":\"stream\"", ",\"context\":");
}

static inline struct gt_reader *gpus_end(struct gpus *g)
{
	struct gt_reader *r = NULL;

	gt_gpu_types_release(&g->types);
	if (!gt_writer_close(g->w, &g->err))
		r = gt_reader_open_fd(g->fd, &g->err);
	if (!r)
		gt_err_print("test", NULL, &g->err);
	return r;
}

/* Ends it, and appends it to the recordings in the file `fd`: several recordings in one file. */
static inline bool gpus_end_into(struct gpus *g, int fd)
{
	static char bytes[1 << 16];
	struct gt_reader *r = gpus_end(g);
	ssize_t n = pread(g->fd, bytes, sizeof(bytes), 0);

	gt_reader_close(r);
	return r && n > 0 && (size_t)n < sizeof(bytes) && write(fd, bytes, (size_t)n) == n;
}
#endif
