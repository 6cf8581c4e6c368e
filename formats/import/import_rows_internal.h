/* Shared by import_rows.c (names, tracks, types, rows) and import_rows_args.c (arguments and their
 * schemas): the state of an import. */
#ifndef GT_IMPORT_ROWS_INTERNAL_H
#define GT_IMPORT_ROWS_INTERNAL_H
#include "formats/base/buf.h"
#include "formats/base/map.h"
#include "formats/import/import_rows.h"

#define NAME_CACHE 1024          /* recent names, a power of two */
#define GROUP_OF_KEYS UINT32_MAX /* interner group for argument names */
#define PATH_MAX_LEN 256         /* of an argument's name; longer ones are cut */
/* bytes for arguments: they must not use up the memory for names */
#define ARGS_TEXT (GT_ROWS_TEXT / 2)

struct gt_import_name {
	struct gt_type type;
	uint32_t group, plain_type;
	uint32_t shape; /* the last one that was found */
	size_t at, len;
};
/* name: index in names; compared by memcmp */
struct gt_import_arg {
	uint32_t name, kind;
};
struct gt_import_schema {
	uint32_t n;
	struct gt_import_arg *args;
};
struct gt_import_shape {
	uint32_t name, begin, end;
	uint32_t type;
};
struct gt_import_process {
	int64_t pid;
	uint32_t track;
};
/* process: GT_NONE if the track has none */
struct gt_import_thread {
	struct gt_rows_place at;
	uint32_t process;
	const char *word;
	uint32_t lane[GT_PAIR_LANES];
};

struct gt_import_stack {
	uint64_t number; /* in the file */
	uint32_t stack;  /* id in the trace, or GT_NONE */
};

struct gt_import_rows {
	struct gt_rows_config config;
	struct gt_writer *w;
	struct gt_pairing *pair;
	struct gt_import_name *names;
	size_t nnames, names_cap;
	struct gt_import_schema *schemas;
	size_t nschemas, schemas_cap;
	struct gt_import_shape *shapes;
	size_t nshapes, shapes_cap;
	struct gt_import_process *processes;
	size_t nprocesses, processes_cap;
	struct gt_import_thread *threads;
	size_t nthreads, threads_cap;
	struct gt_import_stack *stacks;
	size_t nstacks, stacks_cap;
	struct gt_map stack_map, name_map, schema_map, shape_map, process_map, thread_map;
	struct gt_buf text;              /* of all names */
	uint32_t name_cache[NAME_CACHE]; /* number + 1 */
	uint32_t last_thread;
	size_t text_bytes; /* bytes of names and arguments in memory */
	uint32_t nstrings, source;
	/* the arguments of the next row */
	struct gt_import_arg args[GT_FIELDS_MAX];
	uint64_t values[GT_FIELDS_MAX];
	unsigned n;
	char path[PATH_MAX_LEN];
	int64_t now; /* the latest time so far */
	uint64_t rows, backwards, args_left_out;
};

/* Sets the error and returns -ENOMEM. */
int gt_rows_no_memory(struct gt_err *err);
/* Interns a string, unless more than `most` bytes are in use. GT_NONE: they are, or no memory. */
uint32_t gt_rows_intern(struct gt_import_rows *r, const char *s, size_t len, size_t most);
/* The number of the schema of the current arguments (0: none), or negative: no memory. */
int64_t gt_rows_schema(struct gt_import_rows *r, struct gt_err *err);
#endif
