/* Folders of uftrace: tasks, sessions and symbols (import_uftrace_tasks.c and
 * import_uftrace_symbols.c), for the rows that import_uftrace.c makes. */
#ifndef GT_IMPORT_UFTRACE_H
#define GT_IMPORT_UFTRACE_H
#include "formats/base/buf.h"
#include "formats/base/map.h"
#include "formats/import/import_profile.h"

#define GT_UFTRACE_TASKS_MAX (1u << 16)
#define GT_UFTRACE_NONE UINT32_MAX

struct gt_uftrace_task {
	int64_t tid;         /* the key */
	int64_t pid, parent; /* process; the process that forked it, or 0 */
	int64_t start;       /* ns */
	int64_t named;       /* time of its name; INT64_MIN: it has none */
	char name[16];
};
/* The address space of a process from one execve to the next. */
struct gt_uftrace_session {
	int64_t pid, start;
	char id[24];
	char program[64];  /* last part of its path */
	size_t first, end; /* in mappings, which are in order of their start */
};
struct gt_uftrace_mapping {
	uint64_t start, end; /* end 0: unknown, of a library that was opened later */
	uint32_t module;
};
struct gt_uftrace_opened { /* by dlopen */
	int64_t time;
	uint32_t session;
	struct gt_uftrace_mapping mapping;
};
struct gt_uftrace_symbol {
	uint64_t at; /* from the start of the module */
	size_t name; /* in texts; SIZE_MAX: behind the functions of a section */
};
struct gt_uftrace_module {
	char *path;
	uint32_t domain; /* string of the writer, its last part */
	bool loaded;
	size_t first, end; /* in symbols */
};
struct gt_uftrace_file { /* NAME.sym, with the path in its header */
	char *name, *path;
};
/* A function: a name of the rows, and the domain. */
struct gt_uftrace_function {
	uint32_t name, domain;
};
struct gt_uftrace {
	int folder; /* borrowed */
	struct gt_import_rows *rows;
	struct gt_writer *w;
	struct gt_err *err;
	struct gt_map task_map;
	struct gt_uftrace_task *tasks;
	size_t ntasks, tasks_cap;
	struct gt_uftrace_session *sessions;
	size_t nsessions, sessions_cap;
	struct gt_uftrace_mapping *mappings;
	size_t nmappings, mappings_cap;
	struct gt_uftrace_opened *opened; /* in order of time */
	size_t nopened, opened_cap;
	struct gt_uftrace_module *modules;
	size_t nmodules, modules_cap;
	struct gt_map module_map;
	struct gt_uftrace_file *files;
	size_t nfiles, files_cap;
	struct gt_uftrace_symbol *symbols;
	size_t nsymbols, symbols_cap;
	struct gt_buf texts;
	/* recent functions; session: index plus 1; opened: number of libraries that were opened
	 * then, GT_UFTRACE_NONE: it does not matter */
	struct gt_uftrace_cached {
		uint64_t address;
		uint32_t session, opened;
		struct gt_uftrace_function function;
	} * cache;
	char *command; /* JSON */
	bool truncated;
	uint64_t arguments_skipped, records_damaged, kernel_files;
};

/* ---- import_uftrace_tasks.c ---- */

/* Opens a regular file of the folder. A descriptor, or negative without an error text (-EINVAL: it
 * is no regular file), which gt_uftrace_cannot_open sets. */
int gt_uftrace_open(const struct gt_uftrace *u, const char *name);
int gt_uftrace_cannot_open(const struct gt_uftrace *u, const char *name, int code);
/* Calls fn with each line of a file, until it returns non-zero; line numbers count from 1. Errors
 * have the name of the file and the line. 0, -ENOENT without an error text: there is no such file;
 * or negative. */
int gt_uftrace_lines(struct gt_uftrace *u, const char *name,
	int (*fn)(struct gt_uftrace *u, const char *line, void *arg), void *arg);
/* Reads info, task.txt, the maps, and the names of threads in perf-cpu*.dat. 0 or negative. */
int gt_uftrace_read_tasks(struct gt_uftrace *u);

/* ---- import_uftrace_symbols.c ---- */

/* Adds the mappings of a session from its sid-*.map. 0 or negative. */
int gt_uftrace_read_map(struct gt_uftrace *u, struct gt_uftrace_session *s);
/* The module with this path, added if it is new; GT_UFTRACE_NONE: no memory. */
uint32_t gt_uftrace_module(struct gt_uftrace *u, const char *path);
/* Lists the *.sym files and counts those that are not read. 0 or negative. */
int gt_uftrace_list_files(struct gt_uftrace *u);
/* The index of the session of a task at a time; GT_UFTRACE_NONE: there is none. */
uint32_t gt_uftrace_session_at(
	const struct gt_uftrace *u, const struct gt_uftrace_task *t, int64_t time);
/* Is this address in a module of the session? */
bool gt_uftrace_is_code(const struct gt_uftrace *u, uint32_t session, uint64_t address);
/* The function at an address. 0 or negative. */
int gt_uftrace_function_at(struct gt_uftrace *u, uint32_t session, uint64_t address, int64_t time,
	struct gt_uftrace_function *to);
void gt_uftrace_release(struct gt_uftrace *u);
#endif
