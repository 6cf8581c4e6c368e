/* Shared by the files of the importer: import_nsight_database.c reads tables, one after another;
 * import_nsight_names.c, import_nsight_cuda.c and import_nsight_host.c take their rows;
 * import_nsight_stacks.c makes call stacks; import_nsight_tracks.c has processes, threads and GPUs;
 * import_nsight_rows.c makes rows of the trace from records. */
#ifndef GT_IMPORT_NSIGHT_INTERNAL_H
#define GT_IMPORT_NSIGHT_INTERNAL_H
#include "formats/base/map.h"
#include "formats/cuda/gpu_rows.h"
#include "formats/import/nsight/import_nsight.h"
#include "formats/io/json_build.h"
#include "formats/io/sorter.h"
#include "formats/io/stream_out.h"
#include "formats/trace/write/sample_rows.h"
#include "formats/trace/write/sched_rows.h"

/* ---- records ---- */
#define GT_NSIGHT_NO_END INT64_MIN
struct gt_nsight_call {
	int64_t global; /* thread */
	int64_t start, end;
	uint64_t correlation; /* 0: none */
	uint32_t name;        /* string of the writer */
	int32_t ret;
	uint32_t stack; /* GT_NONE: none */
	uint8_t layer, category;
};
struct gt_nsight_launch { /* a call that may have launched work */
	int64_t global;   /* process */
	uint64_t correlation;
	int64_t start, end, thread;
	uint32_t name, stack;
};
enum gt_nsight_kind {
	GT_NSIGHT_KERNEL,
	GT_NSIGHT_COPY,
	GT_NSIGHT_SET,
	GT_NSIGHT_SYNC,
	GT_NSIGHT_GRAPH
};
struct gt_nsight_work {
	int64_t global; /* process */
	uint64_t correlation;
	int64_t start, end;
	uint32_t kind, name; /* enum gt_nsight_kind; string of the writer */
	int64_t device, context, stream;
	uint64_t node, value, bytes; /* value: of a set; event of a wait */
	uint32_t graph;
	uint32_t grid[3], block[3], shared[2], registers; /* of a kernel */
	/* copies and sets: gt's numbers; waits: enum gt_gpu_wait */
	uint8_t direction, source, destination, wait;
	uint32_t unknown; /* enum gt_gpu_unknown */
};
struct gt_nsight_switch { /* a thread begins or ends to run */
	int64_t global;   /* thread */
	int64_t time;
	uint32_t in, state; /* state: of ENUM_SAMPLING_THREAD_STATE; GT_NONE: unknown */
};
struct gt_nsight_frame {
	int64_t id, depth; /* of its call stack; 0: innermost */
	uint64_t text;     /* string of the writer, as stacks have it */
};

/* ---- types of rows ---- */
/* A type has these fields, in this order. */
enum {
	GT_NSIGHT_CORRELATION = 1,
	GT_NSIGHT_U64 = 2, /* a value */
	GT_NSIGHT_I64 = 4,
	GT_NSIGHT_F64 = 8,
	GT_NSIGHT_BYTES = 16,
	GT_NSIGHT_DOMAIN = 32,
	GT_NSIGHT_CATEGORY = 64,
	GT_NSIGHT_COLOR = 128,
	GT_NSIGHT_STACK = 256,
	GT_NSIGHT_FIELDS = 9
};
#define GT_NSIGHT_GUESS UINT8_MAX /* as category: category, op and memkind are the name's */
struct gt_nsight_type {
	struct gt_nsight_type_key {
		uint32_t name;
		uint16_t fields;
		uint8_t layer, category, op, memkind;
		uint16_t zero;
	} key;
	uint32_t type;
};
#define GT_NSIGHT_RECENT 64u

/* ---- the import ---- */
enum gt_nsight_stacks { /* tables of call stacks */
	GT_NSIGHT_CALL_STACKS,
	GT_NSIGHT_OS_STACKS,
	GT_NSIGHT_SAMPLE_STACKS,
	GT_NSIGHT_STACK_TABLES
};
struct gt_nsight {
	struct gt_writer *w;
	struct gt_err *err;
	sqlite3 *db;
	const struct gt_nsight_table *table; /* it is being read */
	bool any;                            /* there was a table of Nsight's */
	bool in_file;                        /* the database is a file, and not to be trusted */
	uint64_t rows_most, rows_read;       /* rows_most: that the file can have */
	struct gt_sorter calls, launches, works, switches, frames;
	struct gt_gpu_types gpu_types;
	struct gt_sched_types sched_types;
	struct gt_sample_types sample_types;
	struct gt_nsight_string { /* StringIds */
		int64_t id;
		uint32_t string;
		uint32_t function; /* the same without a version; GT_NONE: not known yet */
	} * strings;
	size_t nstrings, strings_cap;
	struct gt_map string_map;
	uint64_t text_bytes;
	uint32_t known_strings;  /* those of the writer below this one are counted in text_bytes */
	struct gt_nsight_place { /* tracks, each with its key */
		int64_t kind, global, device, context, id;
		uint32_t track;
	} * places;
	size_t nplaces, places_cap;
	struct gt_map place_map;
	struct gt_nsight_track {                   /* GT_TRACKS */
		int64_t id, parent, os_id, global; /* parent: GT_NSIGHT_NO_ID: none */
		uint32_t kind, name, source;
		uint32_t track; /* GT_NONE: not made yet */
	} * tracks;
	size_t ntracks, tracks_cap;
	struct gt_map track_map;
	struct gt_nsight_type *types;
	size_t ntypes, types_cap;
	struct gt_map type_map;
	struct gt_nsight_type recent[GT_NSIGHT_RECENT];
	int64_t last_thread; /* the one that was looked up last, and its track plus one */
	uint32_t last_track;
	struct gt_nsight_place last_stream;
	uint32_t source;
	struct gt_nsight_stack_table {
		struct gt_nsight_stack { /* by ascending id */
			int64_t id;
			uint32_t stack;
		} * stacks;
		size_t n, cap;
	} stacks[GT_NSIGHT_STACK_TABLES];
	struct gt_nsight_metric { /* TARGET_INFO_GPU_METRICS */
		int64_t source, id;
		uint32_t name, group; /* group: name of the source */
	} * metrics;
	size_t nmetrics, metrics_cap;
	struct gt_map metric_map;
	json_t *recorded; /* the table metadata; NULL: there is none */
	size_t recorded_bytes;
	struct gt_out meta; /* members of the metadata, each with a comma before it */
	struct gt_out gpus;
	unsigned ngpus;
	bool has_gpus;      /* in the table metadata */
	unsigned nmessages; /* of Nsight's diagnostics */
	/* invalid: rows whose times or ids are not usable */
	uint64_t rows, invalid, stacks_left_out;
};
#define GT_NSIGHT_NO_ID INT64_MIN

/* A table: which columns to read, and what to do with a row of them. */
#define GT_NSIGHT_COLUMNS 26
struct gt_nsight_table {
	const char *name;
	unsigned needed; /* without one of these first columns, it is another program's table */
	const char *columns[GT_NSIGHT_COLUMNS];             /* NULL-terminated */
	int (*row)(struct gt_nsight *n, sqlite3_value **s); /* s: its columns */
	int (*end)(struct gt_nsight *n); /* after the last row, if there is the table; or NULL */
	/* databases of other programs may have a table of this name */
	bool is_common;
};

/* ---- values: a column that a version lacks is NULL, and a text that is no number reads as
 * NULL ---- */
bool gt_nsight_is_number(sqlite3_value **s, int c); /* called only where the number reads as 0 */
static inline int64_t gt_nsight_number(sqlite3_value **s, int c, int64_t otherwise)
{
	int64_t v = sqlite3_value_int64(s[c]);

	return v || !otherwise || gt_nsight_is_number(s, c) ? v : otherwise;
}
static inline uint32_t gt_nsight_number32(sqlite3_value **s, int c)
{
	return (uint32_t)sqlite3_value_int64(s[c]);
}
static inline bool gt_nsight_has(sqlite3_value **s, int c)
{
	return sqlite3_value_int64(s[c]) || gt_nsight_is_number(s, c);
}
/* Reads start and end. false: they are no times, which is counted. */
bool gt_nsight_times(struct gt_nsight *n, sqlite3_value **s, int64_t *start, int64_t *end);
/* The same; end: GT_NSIGHT_NO_END if it is NULL. */
bool gt_nsight_call_times(struct gt_nsight *n, sqlite3_value **s, int64_t *start, int64_t *end);
/* The same of a row with one time. */
bool gt_nsight_time(struct gt_nsight *n, sqlite3_value **s, int c, int64_t *time);

/* ---- import_nsight_names.c ---- */
/* Adds a string. GT_NONE with err filled in. */
uint32_t gt_nsight_text(struct gt_nsight *n, const char *text, size_t len);
/* The string with the id in this column; "?" if there is none. */
uint32_t gt_nsight_string(struct gt_nsight *n, sqlite3_value **s, int c);
/* The same; GT_NONE if there is none. */
uint32_t gt_nsight_string_or_none(struct gt_nsight *n, sqlite3_value **s, int c);
/* The same as gt_nsight_string without the version that Nsight adds to functions. */
uint32_t gt_nsight_function(struct gt_nsight *n, sqlite3_value **s, int c);
/* The number of the word with the id in this column, or `otherwise`. */
uint8_t gt_nsight_word(struct gt_nsight *n, sqlite3_value **s, int c, const char *(*word)(unsigned),
	uint8_t otherwise);
int gt_nsight_see_string(struct gt_nsight *n, sqlite3_value **s);
int gt_nsight_see_process(struct gt_nsight *n, sqlite3_value **s);
int gt_nsight_see_thread(struct gt_nsight *n, sqlite3_value **s);
int gt_nsight_see_session(struct gt_nsight *n, sqlite3_value **s);
int gt_nsight_see_gpu(struct gt_nsight *n, sqlite3_value **s);
int gt_nsight_see_metadata(struct gt_nsight *n, sqlite3_value **s);
int gt_nsight_see_message(struct gt_nsight *n, sqlite3_value **s);

/* ---- import_nsight_stacks.c ---- */
/* Of any of their tables. */
int gt_nsight_see_frame(struct gt_nsight *n, sqlite3_value **s);
int gt_nsight_end_call_stacks(struct gt_nsight *n);
int gt_nsight_end_os_stacks(struct gt_nsight *n);
int gt_nsight_end_sample_stacks(struct gt_nsight *n);
/* The stack with the id in this column, or GT_NONE. */
uint32_t gt_nsight_stack(
	struct gt_nsight *n, enum gt_nsight_stacks table, sqlite3_value **s, int c);

/* ---- import_nsight_cuda.c ---- */
#define GT_NSIGHT_WORK                                                                             \
	"start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid"
int gt_nsight_see_call(struct gt_nsight *n, sqlite3_value **s);
int gt_nsight_see_kernel(struct gt_nsight *n, sqlite3_value **s);
int gt_nsight_see_copy(struct gt_nsight *n, sqlite3_value **s);
int gt_nsight_see_set(struct gt_nsight *n, sqlite3_value **s);
int gt_nsight_see_sync(struct gt_nsight *n, sqlite3_value **s);
int gt_nsight_see_graph(struct gt_nsight *n, sqlite3_value **s);
int gt_nsight_add_call(struct gt_nsight *n, const struct gt_nsight_call *c);

/* ---- import_nsight_host.c: Nsight's tables of the host ---- */
int gt_nsight_see_system_call(struct gt_nsight *n, sqlite3_value **s);
int gt_nsight_see_range(struct gt_nsight *n, sqlite3_value **s);
int gt_nsight_see_sample(struct gt_nsight *n, sqlite3_value **s);
int gt_nsight_see_switch(struct gt_nsight *n, sqlite3_value **s);
int gt_nsight_end_switches(struct gt_nsight *n);
int gt_nsight_put_sched(struct gt_nsight *n, uint32_t track, const struct gt_sched_row *row);
int gt_nsight_see_metric_name(struct gt_nsight *n, sqlite3_value **s);
int gt_nsight_see_metric(struct gt_nsight *n, sqlite3_value **s);

/* ---- import_nsight_gt.c: gt's own tables ---- */
int gt_nsight_see_gt_sched(struct gt_nsight *n, sqlite3_value **s);
int gt_nsight_see_gt_sample(struct gt_nsight *n, sqlite3_value **s);
int gt_nsight_see_gt_counter(struct gt_nsight *n, sqlite3_value **s);
int gt_nsight_see_gt_loss(struct gt_nsight *n, sqlite3_value **s);
int gt_nsight_see_gt_event(struct gt_nsight *n, sqlite3_value **s);

/* ---- import_nsight_tracks.c; GT_NONE with err filled in ---- */
uint32_t gt_nsight_process(struct gt_nsight *n, int64_t global); /* globalPid or globalTid */
uint32_t gt_nsight_thread(struct gt_nsight *n, int64_t global);  /* globalTid */
/* The track of the stream; if it is negative, of the context; if that is negative, of the device;
 * else of the process. */
uint32_t gt_nsight_gpu(
	struct gt_nsight *n, int64_t global, int64_t device, int64_t context, int64_t stream);
/* A track of a kind of its own, without a parent. */
uint32_t gt_nsight_custom(struct gt_nsight *n, int64_t id, uint32_t name);
int gt_nsight_see_track(struct gt_nsight *n, sqlite3_value **s);
int gt_nsight_end_tracks(struct gt_nsight *n);
/* The track with the id of GT_TRACKS in this column; GT_NONE without err: there is none. */
uint32_t gt_nsight_track(struct gt_nsight *n, sqlite3_value **s, int c);

/* ---- import_nsight_rows.c ---- */
int gt_nsight_init(struct gt_nsight *n); /* 0 or negative; release it in both cases */
void gt_nsight_release(struct gt_nsight *n);
/* Writes a row whose type has this key. args: of its fields. 0 or negative. */
int gt_nsight_put(struct gt_nsight *n, enum gt_kind kind, uint32_t track, struct gt_row *row,
	const struct gt_nsight_type_key *key, const uint64_t *args);
/* Closes the epoch if it is due; called after each row. */
int gt_nsight_row_is_done(struct gt_nsight *n, int64_t start, int rc);
/* Writes the rows of all records. 0 or negative. */
int gt_nsight_finish(struct gt_nsight *n);
static inline int gt_nsight_no_memory(struct gt_nsight *n)
{
	return gt_err_set(n->err, -ENOMEM, "out of memory");
}
#endif
