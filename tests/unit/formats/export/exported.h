/* Shared by the tests of exporters: small traces that contain every kind of row, and functions
 * that inspect the exported file. */
#ifndef EXPORTED_H
#define EXPORTED_H
#define _GNU_SOURCE
#include "tests/unit/t.h"

#include <inttypes.h>
#include <jansson.h>
#include <sys/mman.h>
#include <unistd.h>
#include "formats/export/exporters.h"
#include "formats/trace/write/writer.h"

/* ---- making traces ---- */

struct made {
	struct gt_writer *w;
	int fd;
	uint32_t process, thread, other, gpu, types[8];
};
enum { LAUNCH, COPY, IOCTL, KERNEL, MARK, GAUGE, PLAIN, JOINED, TYPES };

#define KERNEL_NAME "_Z9vectorAddPKfS0_Pfi"

static inline void add_types(struct made *m)
{
	struct gt_writer *w = m->w;
	const struct gt_field launch[] = { { gt_writer_string(w, "f"), GT_F_STR, GT_R_KERNEL },
		{ gt_writer_string(w, "gridDimX"), GT_F_U64, GT_R_GRID },
		{ gt_writer_string(w, "hStream"), GT_F_HEX, GT_R_STREAM },
		{ gt_writer_string(w, "id"), GT_F_U64, GT_R_CORRELATION } };
	const struct gt_field copy[] = { { gt_writer_string(w, "ByteCount"), GT_F_U64, GT_R_BYTES },
		{ gt_writer_string(w, "direction"), GT_F_U64, GT_R_DIRECTION } };
	const struct gt_field joined[] = { { gt_writer_string(w, "launch_track"), GT_F_U64,
						   GT_R_LAUNCH_TRACK },
		{ gt_writer_string(w, "launch_start"), GT_F_I64, GT_R_LAUNCH_START },
		{ gt_writer_string(w, "launch_ns"), GT_F_U64, GT_R_LAUNCH_NS },
		{ gt_writer_string(w, "launch_name"), GT_F_STR, GT_R_LAUNCH_NAME },
		{ gt_writer_string(w, "launch_join"), GT_F_U64, GT_R_LAUNCH_JOIN }, launch[3],
		{ gt_writer_string(w, "caller"), GT_F_U64, GT_R_STACK } };
	const struct gt_field gauge[] = { { gt_writer_string(w, "value"), GT_F_F64, GT_R_VALUE } };
	const struct gt_type types[TYPES] = {
		[LAUNCH] = { .name = gt_writer_string(w, "cuLaunchKernel"),
			.category = GT_CAT_LAUNCH,
			.op = GT_OP_LAUNCH,
			.nfields = 4,
			.fields = launch },
		[COPY] = { .name = gt_writer_string(w, "cuMemcpyHtoD_v2"),
			.category = GT_CAT_COPY,
			.op = GT_OP_COPY,
			.nfields = 2,
			.fields = copy },
		[IOCTL] = { .name = gt_writer_string(w, "RM;control"),
			.category = GT_CAT_IOCTL,
			.op = GT_OP_IOCTL,
			.layer = GT_LAYER_IOCTL },
		[KERNEL] = { .name = gt_writer_string(w, KERNEL_NAME),
			.category = GT_CAT_KERNEL,
			.layer = GT_LAYER_GPU,
			.nfields = 1,
			.fields = launch + 3 },
		[MARK] = { .name = gt_writer_string(w, "mark \"one\"\n"), .category = GT_CAT_USER },
		[GAUGE] = { .name = gt_writer_string(w, "power"),
			.category = GT_CAT_OTHER,
			.nfields = 1,
			.fields = gauge },
		[PLAIN] = { .name = gt_writer_string(w, "cuInit"), .category = GT_CAT_INIT },
		[JOINED] = { .name = gt_writer_string(w, KERNEL_NAME),
			.category = GT_CAT_KERNEL,
			.layer = GT_LAYER_GPU,
			.nfields = 7,
			.fields = joined },
	};

	for (int i = 0; i < TYPES; i++)
		m->types[i] = gt_writer_type(w, &types[i]);
}

/* rows are handed in as the recorder does: by end time, so that late calls have a store of their
 * own */
static bool by_end;

static inline struct made make_at(int fd, const char *host, int64_t pid)
{
	struct gt_writer_options opt = { .rows_sorted = by_end,
		.meta_json = "{\"simulated\":true,\"command\":\"a \\\"b\\\"\"}",
		.host = host,
		.boot_id = host };
	struct made m = { .fd = dup(fd) };
	uint32_t source;

	m.w = gt_writer_open(fd, &opt, NULL);
	source = gt_writer_string(m.w, "preload");
	m.process = gt_writer_track(m.w,
		&(struct gt_track){ .parent = GT_NONE,
			.name = gt_writer_string(m.w, "python3"),
			.source = source,
			.kind = GT_TRACK_PROCESS,
			.id = pid,
			.ns_id = pid,
			.start = 77 });
	m.thread = gt_writer_track(m.w,
		&(struct gt_track){ .parent = m.process,
			.name = gt_writer_string(m.w, "main;x"),
			.source = source,
			.kind = GT_TRACK_THREAD,
			.id = pid,
			.ns_id = pid });
	m.other = gt_writer_track(m.w,
		&(struct gt_track){ .parent = m.process,
			.name = GT_NONE,
			.source = source,
			.kind = GT_TRACK_THREAD,
			.id = pid + 1,
			.ns_id = pid + 1 });
	m.gpu = gt_writer_track(m.w,
		&(struct gt_track){ .parent = GT_NONE,
			.name = GT_NONE,
			.source = source,
			.kind = GT_TRACK_STREAM,
			.id = 7,
			.ns_id = 7 });
	add_types(&m);
	return m;
}

static inline struct made make(void) { return make_at(memfd_create("trace", 0), "host-a", 4711); }

static inline void put(struct made *m, enum gt_kind kind, uint32_t track, int type, int64_t start,
	int64_t end, unsigned depth, int ret, const uint64_t *args)
{
	static const uint64_t none[GT_FIELDS_MAX];
	struct gt_row row = { .start = start,
		.end = end,
		.type = m->types[type],
		.ret = ret,
		.depth = (uint8_t)depth,
		.nargs = gt_writer_type_get(m->w, m->types[type])->nfields };
	struct gt_err err = GT_ERR_INIT;

	if (gt_writer_row(m->w, kind, track, &row, args ? args : none, &err))
		printf("# %s\n", err.text);
}

static inline struct gt_reader *reread(struct made *m)
{
	struct gt_err err = GT_ERR_INIT;
	struct gt_reader *r;

	if (gt_writer_close(m->w, &err))
		printf("# %s\n", err.text);
	r = gt_reader_open_fd(m->fd, &err);
	if (!r)
		printf("# %s\n", err.text);
	return r;
}

/* ---- exporting ---- */

static const struct gt_exporter *exporter(const char *name)
{
	for (const struct gt_exporter *const *x = gt_exporters; *x; x++)
		if (!strcmp((*x)->name, name))
			return *x;
	return NULL;
}

/* The exporter's output; the caller frees it. */
static inline char *export_with(
	struct gt_reader *r, const char *name, const struct gt_export_options *opt)
{
	struct gt_err err = GT_ERR_INIT;
	struct gt_out o;
	char *text;

	gt_out_memory(&o);
	if (exporter(name)->export(r, opt, &o, &err)) {
		printf("# %s\n", err.text);
		gt_out_close(&o, NULL);
		return strdup("");
	}
	text = strndup(o.data, o.len);
	gt_out_close(&o, NULL);
	return text;
}

static inline char *export(struct gt_reader *r, const char *name)
{
	return export_with(r, name, &(struct gt_export_options){ .cost = GT_COST_TIME });
}

static inline json_t *chrome(struct gt_reader *r, const struct gt_export_options *opt)
{
	char *text = export_with(r, "chrome", opt ? opt : &(struct gt_export_options){ 0 });
	json_error_t e;
	json_t *j = json_loads(text, JSON_REJECT_DUPLICATES, &e);

	if (!j)
		printf("# %s at %d\n", e.text, e.position);
	free(text);
	return j;
}

static const char *word(const json_t *e, const char *key)
{
	const char *s = json_string_value(json_object_get(e, key));

	return s ? s : "";
}

/* The nth event of that phase and name (NULL: any), or NULL. */
static inline json_t *event(json_t *trace, const char *phase, const char *name, unsigned nth)
{
	json_t *e;
	size_t i;

	json_array_foreach(
		json_object_get(trace, "traceEvents"), i, e) if (!strcmp(word(e, "ph"), phase) &&
		(!name || !strcmp(word(e, "name"), name)) && !nth--) return e;
	return NULL;
}

static inline int64_t ns(const json_t *e, const char *key)
{
	double us = json_number_value(json_object_get(e, key)) * 1000;

	return (int64_t)(us + (us < 0 ? -0.5 : 0.5));
}

/* Does a slice of its thread hold the event? */
static inline bool in_slice(json_t *trace, const json_t *at)
{
	json_t *e;
	size_t i;

	json_array_foreach(
		json_object_get(trace, "traceEvents"), i, e) if (!strcmp(word(e, "ph"), "X") &&
		json_equal(json_object_get(e, "pid"), json_object_get(at, "pid")) &&
		json_equal(json_object_get(e, "tid"), json_object_get(at, "tid")) &&
		ns(e, "ts") <= ns(at, "ts") &&
		ns(at, "ts") <= ns(e, "ts") + ns(e, "dur")) return true;
	return false;
}

/* How many flows there are, each of which has one start and one finish, both in slices; -1: one has
 * not. */
static inline int whole_flows(json_t *trace)
{
	json_t *events = json_object_get(trace, "traceEvents"), *s, *f;
	unsigned starts = 0, finishes = 0, pairs = 0;
	size_t i, k;

	json_array_foreach(events, i, s)
	{
		finishes += !strcmp(word(s, "ph"), "f");
		if (strcmp(word(s, "ph"), "s"))
			continue;
		starts++;
		json_array_foreach(events, k, f) pairs += !strcmp(word(f, "ph"), "f") &&
			json_equal(json_object_get(s, "id"), json_object_get(f, "id")) &&
			in_slice(trace, s) && in_slice(trace, f);
	}
	return pairs == starts && pairs == finishes ? (int)pairs : -1;
}

struct placed {
	int64_t pid, tid, start, end;
};

/* Two hosts, one pid: two processes, and the second one names its host. */
static inline int two_hosts(void)
{
	int fd = memfd_create("trace", 0), keep = dup(fd);

	for (int i = 0; i < 2; i++) {
		struct made m = make_at(dup(fd), i ? "host-b" : "host-a", 4711);

		put(&m, GT_CALL, m.thread, i ? COPY : PLAIN, 1000 * (i + 1), 1000 * (i + 1) + 100,
			0, 0, NULL);
		gt_writer_close(m.w, NULL);
		close(m.fd);
	}
	close(fd);
	return keep;
}
static inline unsigned next_random(unsigned *seed)
{
	return (*seed = *seed * 1103515245 + 12345) >> 8;
}
#endif
