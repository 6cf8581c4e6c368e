/* Sources of events: everything that -e can name.
 *
 * A source is one `const struct gt_source gt_source_NAME` in a file of this folder, and one X(NAME)
 * in GT_SOURCES below. The option -e, --help, --doctor, the metadata and the messages about losses
 * follow from these two.
 *
 * There are two kinds. A guest's source opens gates in the session's header: the library in the
 * program then sends events through the rings, and the recorder writes them. Its members behind
 * `enable` are NULL. gtcollect's own source has a state, is drained by the recorder's thread
 * between two passes over the rings, and writes its rows itself. */
#ifndef GT_SOURCE_H
#define GT_SOURCE_H
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include "collect/ipc/ring.h"
#include "formats/cmdline/opt.h"
#include "formats/trace/write/writer.h"

/* All sources, in the order of --help. A test build adds its own by defining GT_SOURCES_MORE. */
#ifndef GT_SOURCES_MORE
#define GT_SOURCES_MORE(X)
#endif
#define GT_SOURCES(X) X(api) X(ioctl) X(gpu) X(nvtx) X(nvml) X(runtime) X(um) GT_SOURCES_MORE(X)
#define GT_SOURCE_WORD(name) " " #name
#define GT_SOURCES_DEFAULT "api,ioctl,gpu,nvtx"

/* When and how often a source of gtcollect's samples: from `from` (CLOCK_MONOTONIC ns; a time in
 * the past means now), every `interval` ns, until `until` (0: until it is stopped). */
struct gt_source_times {
	int64_t interval, from, until;
};

struct gt_source_totals {
	uint64_t rows;   /* written */
	uint64_t lost;   /* values that were read and did not reach the file */
	uint64_t failed; /* values that could not be read */
	bool simulated;  /* they come from a simulated GPU */
};

struct gt_source {
	const char *name;     /* as in -e */
	const char *records;  /* its rows, and its needs; one line for people */
	bool with_inject;     /* --inject can record it */
	bool always_injected; /* --inject records it even if -e does not name it */
	/* Opens its gates. NULL: it has none. */
	void (*enable)(struct gt_session *s);

	/* ---- gtcollect's own ---- */
	const char *unit; /* one row of it, singular: "counter value" */
	/* new state: close it. NULL where the source does not work here; err says why. */
	void *(*open)(struct gt_err *err);
	/* After the program has started, so that it inherits nothing. 0 or negative. */
	int (*start)(void *state, const struct gt_source_times *times, struct gt_err *err);
	/* A file descriptor that becomes readable when there is something to drain; -1: drain it at
	 * every pass. NULL: -1. */
	int (*fd)(void *state);
	/* Writes its pending rows. Returns the number of rows, or negative. */
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

/* The sources of gtcollect's own that a recording uses. Zero-initialised: none. */
#define GT_SOURCES_OWN 8
struct gt_sources {
	struct gt_active_source {
		const struct gt_source *source;
		void *state;
	} active[GT_SOURCES_OWN];
	unsigned n;
};

#define GT_SOURCES_LIST 64
/* Opens the gates of the sources in `list` ("api,ioctl"), and adds those without a gate to `own`. 0
 * or -EINVAL. */
int gt_sources_enable(
	struct gt_session *s, struct gt_sources *own, const char *list, struct gt_err *err);
/* For --inject: closes the gates of sources that it cannot record. `list` becomes the list of those
 * that it records. */
void gt_sources_inject(struct gt_session *s, const char *wanted, char list[GT_SOURCES_LIST]);
/* Closes the gates of names that no filter matches (when there are filters) or that an exclude
 * matches; sample > 1 makes those left sample. A glob (formats/names/globs.h) is compared with the
 * whole name and with the name without _v2, _ptsz and the like. Returns how many gates are open;
 * *useless is a glob that matched nothing, or NULL. */
unsigned gt_sources_filter(struct gt_session *s, const struct gt_opt_list *filter,
	const struct gt_opt_list *exclude, uint32_t sample, const char **useless);

/* The same for all sources of `own`, in the order of the calls of one recording. An error is the
 * first one's. */
int gt_sources_open(struct gt_sources *own, struct gt_err *err);
int gt_sources_start(
	struct gt_sources *own, const struct gt_source_times *times, struct gt_err *err);
/* Fills in at most GT_SOURCES_OWN entries to poll. Returns their number. */
unsigned gt_sources_poll(const struct gt_sources *own, struct pollfd *fds);
/* Writes what the sources have, and metadata that changed; last: all metadata. Returns the number
 * of rows, or negative. */
int64_t gt_sources_drain(
	struct gt_sources *own, struct gt_writer *w, bool last, struct gt_err *err);
void gt_sources_stop(struct gt_sources *own);
void gt_sources_totals(const struct gt_active_source *of, struct gt_source_totals *t);
bool gt_sources_simulated(const struct gt_sources *own);
void gt_sources_report(const struct gt_sources *own, const char *program, FILE *to);
void gt_sources_close(struct gt_sources *own);
#endif
