/* Sources of events: everything that -e can name.
 *
 * A source is one `const struct gt_source gt_source_NAME` in a file of this folder, and one row in
 * GT_SOURCES of sources.c: GUEST(NAME) or SAMPLED(NAME). The option -e, --help, --doctor, the
 * metadata and the messages about losses follow from these two.
 *
 * There are two kinds. A guest's source opens gates in the session's header: the library in the
 * traced program then sends events through the rings, and the recorder writes them. A sampled
 * source has a state in gtcollect: the recorder's thread drains it between two passes over the
 * rings, and the source writes its rows itself. */
#ifndef GT_SOURCE_H
#define GT_SOURCE_H
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include "collect/ipc/ring.h"
#include "formats/cmdline/opt.h"
#include "formats/trace/write/writer.h"

struct gt_source_totals {
	uint64_t rows;   /* written */
	uint64_t lost;   /* values that were read and did not reach the file */
	uint64_t failed; /* values that could not be read */
	bool simulated;  /* they come from a simulated GPU */
};

struct gt_source {
	const char *name;     /* as in -e */
	const char *needs;    /* what must be there: "CUPTI"; NULL: nothing */
	bool by_default;      /* recorded without -e */
	bool with_inject;     /* --inject can record it */
	bool always_injected; /* --inject records it even if -e does not name it */
	bool with_ebpf;       /* --via ebpf can record it */
	bool only_ebpf;       /* no other way can */
	bool with_perf;       /* perf events can record it */
	bool has_names;       /* -e NAME:WHAT says which of them */
	/* Its own options, which stand in --help after those of gtcollect about what to record.
	 * check_options: 0 or -EINVAL; NULL where there are none. */
	const struct gt_opt *options;
	size_t noptions;
	int (*check_options)(bool is_selected, struct gt_err *err);
	/* Opens its gates. NULL: it has none. */
	void (*enable)(struct gt_session *s);

	/* ---- sampled sources; NULL in a guest's source ---- */
	const char *unit; /* one row of it, singular: "counter value" */
	/* new state: close it. NULL where the source does not work here; err says why, -ENOENT:
	 * something that it needs is missing. */
	void *(*open)(struct gt_err *err);
	/* What it cannot record here, and why; NULL: nothing. The recording goes on without it.
	 * NULL: never. */
	const char *(*missing)(void *state);
	/* Begins to sample: at `from` (CLOCK_MONOTONIC ns; a time in the past means now) until
	 * `until` (0: until it is stopped). It is called after the program has started, so that the
	 * program inherits nothing. 0 or negative. */
	int (*start)(void *state, int64_t from, int64_t until, struct gt_err *err);
	/* A file descriptor that becomes readable when there is something to drain. NULL: the
	 * source is drained at every pass. */
	int (*fd)(void *state);
	/* Writes its pending rows, and its losses. Returns the number of rows, or negative. */
	int64_t (*drain)(void *state, struct gt_writer *w, struct gt_err *err);
	/* No more events. Its pending rows are still to be drained. */
	void (*stop)(void *state);
	/* One JSON object. new: free it. NULL: no memory. */
	char *(*metadata)(void *state);
	/* Has the metadata changed since the last call of metadata()? The file then gets it at
	 * once. NULL: only at the end. */
	bool (*metadata_changed)(void *state);
	void (*totals)(void *state, struct gt_source_totals *t);
	/* Lines for -v about failures, each with `program` in front. NULL: none. */
	void (*report)(void *state, const char *program, FILE *to);
	/* For --doctor: true with what can be recorded here ("the counters of 2 devices"), or false
	 * with the reason. It runs in a process of its own. NULL: not checked. */
	bool (*doctor)(FILE *to);
	void (*close)(void *state);
};
extern const struct gt_source *const gt_source_table[];               /* NULL-terminated */
const struct gt_source *gt_source_find(const char *name, size_t len); /* or NULL */

/* Does the list, as -e has it, name a source that the guest library records? */
bool gt_sources_of_guest(const char *list);
/* The first source of the list that only eBPF records; NULL: there is none. */
const struct gt_source *gt_sources_only_ebpf(const char *list);

/* Does the list name what perf events record, and besides only what is sampled in gtcollect? */
bool gt_sources_only_perf(const char *list);

/* --sample-rate: of -e samples. */
unsigned gt_sources_sample_rate(void);

#define GT_SOURCES_LIST 128
/* "api ioctl ...", the names of all sources; and "api,ioctl,...", those recorded without -e. */
const char *gt_sources_names(void);
const char *gt_sources_default(void);

/* The sampled sources that a recording uses. Zero-initialised: none. */
#define GT_SOURCES_OWN 8
struct gt_sources {
	struct gt_active_source {
		const struct gt_source *source;
		void *state; /* NULL before gt_sources_open */
	} active[GT_SOURCES_OWN];
	unsigned n;
};

/* Opens the gates of the sources in `list` ("api,ioctl"), and adds the sampled ones to `own`. 0 or
 * -EINVAL. */
int gt_sources_enable(
	struct gt_session *s, struct gt_sources *own, const char *list, struct gt_err *err);
/* For --inject: closes the gates of sources that it cannot record. `list` becomes the list of those
 * that it records; with_ebpf: and of those that eBPF records beside it. */
void gt_sources_inject(
	struct gt_session *s, const char *requested, bool with_ebpf, char list[GT_SOURCES_LIST]);
/* Is the source in the list? */
bool gt_sources_has(const char *list, const char *name);
/* For --via ebpf: the list of those sources of `requested` that it can record. One that it cannot
 * record is an error, unless may_leave_out. 0 or -EINVAL. */
int gt_sources_ebpf(
	const char *requested, bool may_leave_out, char list[GT_SOURCES_LIST], struct gt_err *err);
/* Those sources of `all` that are not in `some`. */
void gt_sources_without(const char *all, const char *some, char list[GT_SOURCES_LIST]);
/* Closes the gates of names that no filter matches (when there are filters) or that an exclude
 * matches; sample > 1 makes those left sample. A glob (formats/names/globs.h) is compared with the
 * whole name and with the name without _v2, _ptsz and the like. Returns how many gates are open;
 * *useless is a glob that matched nothing, or NULL. */
unsigned gt_sources_filter(struct gt_session *s, const struct gt_opt_list *filter,
	const struct gt_opt_list *exclude, uint32_t sample, const char **useless);
/* Says which calls carry their stack: "launch" (launches, copies, allocations, frees, waits, and
 * calls that create a node of a graph; also if the list is empty), "all", "none", or globs.
 * *useless is as above. */
void gt_sources_stacks(
	struct gt_session *s, const struct gt_opt_list *stacks, const char **useless);

/* The same for all sources of `own`, in the order of the calls of one recording. An error is the
 * first one's. */
int gt_sources_open(struct gt_sources *own, struct gt_err *err);
/* Calls `note` with what they cannot record here. */
void gt_sources_missing(const struct gt_sources *own, void (*note)(const char *text));
int gt_sources_start(struct gt_sources *own, int64_t from, int64_t until, struct gt_err *err);
/* Fills in at most GT_SOURCES_OWN entries to poll. Returns their number. */
unsigned gt_sources_poll(const struct gt_sources *own, struct pollfd *fds);
/* Writes what the sources have, and metadata that changed; last: all metadata. Returns the number
 * of rows, or negative. */
int64_t gt_sources_drain(
	struct gt_sources *own, struct gt_writer *w, bool last, struct gt_err *err);
void gt_sources_stop(struct gt_sources *own);
void gt_sources_totals(const struct gt_active_source *of, struct gt_source_totals *t);
bool gt_sources_are_simulated(const struct gt_sources *own);
void gt_sources_report(const struct gt_sources *own, const char *program, FILE *to);
void gt_sources_close(struct gt_sources *own);
#endif
