/* Import of Nsight Systems' tables (nsys export --type sqlite, gtexport --sqlite). Tables have
 * their rows in any order, have other columns from version to version, and are absent if they would
 * be empty. So rows become records, which are sorted in bounded memory: calls by thread and time,
 * GPU work and its launches by process and correlation id.
 *
 * import_nsight.c reads tables; import_nsight_rows.c makes rows from records. */
#ifndef GT_IMPORT_NSIGHT_H
#define GT_IMPORT_NSIGHT_H
#include <sqlite3.h>
#include "formats/base/map.h"
#include "formats/cuda/gpu_rows.h"
#include "formats/io/sorter.h"

enum gt_nsight_kind { /* of a record; in each group of works, the calls come first */
	GT_NSIGHT_CALL,
	GT_NSIGHT_KERNEL,
	GT_NSIGHT_COPY,
	GT_NSIGHT_SET,
	GT_NSIGHT_SYNC,
	GT_NSIGHT_GRAPH
};
#define GT_NSIGHT_NO_END INT64_MIN
struct gt_nsight_call {
	int64_t global; /* thread */
	int64_t start, end;
	uint64_t correlation; /* 0: none */
	uint32_t name;        /* string of the writer */
	int32_t ret;
	uint8_t layer;
};
struct gt_nsight_work {
	int64_t global; /* process */
	uint64_t correlation;
	int64_t start, end;
	uint32_t kind, name; /* enum gt_nsight_kind; string of the writer */
	union {
		struct {
			int64_t thread;
		} call;
		struct {
			int64_t device, context, stream;
			uint64_t node, value, bytes; /* value: of a set; event of a wait */
			uint32_t graph;
			uint32_t grid[3], block[3], shared[2], registers; /* of a kernel */
			/* copies and sets: gt's numbers; waits: enum gt_gpu_wait */
			uint8_t direction, source, destination, wait;
			uint32_t unknown; /* enum gt_gpu_unknown */
		} gpu;
	};
};
struct gt_nsight {
	struct gt_writer *w;
	struct gt_err *err;
	struct gt_sorter calls, works;
	struct gt_gpu_types gpu_types;
	struct gt_nsight_string { /* StringIds */
		int64_t id;
		uint32_t string;
		uint32_t function; /* the same without a version; GT_NONE: not known yet */
	} * strings;
	size_t nstrings, strings_cap;
	struct gt_map string_map;
	struct gt_nsight_place { /* tracks, each with its key */
		int64_t kind, global, device, context, id;
		uint32_t track;
	} * places;
	size_t nplaces, places_cap;
	struct gt_map place_map;
	struct gt_nsight_type { /* of calls and ranges */
		uint64_t key;
		uint32_t type;
	} * types;
	size_t ntypes, types_cap;
	struct gt_map type_map;
	int64_t last_thread; /* the one that was looked up last, and its track plus one */
	uint32_t last_track;
	uint32_t source;
	uint64_t rows, invalid; /* invalid: rows whose times or ids are not usable */
};

/* Imports Nsight's tables from a database of gt's own virtual tables (import_nsight.c). 0 or
 * negative. */
int gt_nsight_import_tables(sqlite3 *db, struct gt_writer *w, struct gt_err *err);

/* 0 or negative; release it in both cases. */
int gt_nsight_init(struct gt_nsight *n, struct gt_writer *w, struct gt_err *err);
void gt_nsight_release(struct gt_nsight *n);
/* The track of a process (globalPid) or thread (globalTid); GT_NONE with err filled in. */
uint32_t gt_nsight_process(struct gt_nsight *n, int64_t global);
uint32_t gt_nsight_thread(struct gt_nsight *n, int64_t global);
/* Can rows have these times? If not, counts it. */
bool gt_nsight_is_valid(struct gt_nsight *n, int64_t start, int64_t end);
/* A range (or with end == start a mark, if is_mark) of the program; thread: globalTid. 0 or
 * negative. */
int gt_nsight_put_range(struct gt_nsight *n, int64_t thread, uint32_t name, int64_t start,
	int64_t end, bool is_mark);
/* Writes the rows of all records. 0 or negative. */
int gt_nsight_finish(struct gt_nsight *n);
#endif
