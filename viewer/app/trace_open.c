/* The viewer draws from summaries. A trace that a current recorder closed has them and opens at
 * once: only its end, index, names and upper summaries are read. Everything else is first copied
 * into a file that has them: files of other tools, traces whose recorder was killed, and traces of
 * earlier versions. The copy is stored in a cache (index_cache.h) for the next time; if that is
 * impossible, it is a file without a name that ends with the viewer. Small files are opened
 * directly: reading all of their blocks takes little time.
 *
 * If the user excludes names, the file is copied without them into a file without a name.
 *
 * A followed file is never copied. It is read from its start in portions, later from where it
 * ended. The kernel tells whether a process still writes it: it grants a read lease only on a file
 * that no process has open for writing. */
#define _GNU_SOURCE /* F_SETLEASE */
#include "viewer/app/trace_open.h"

#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "formats/os/file.h"
#include "formats/trace/clock.h"
#include "formats/export/exporters.h"
#include "formats/import/importers.h"
#include "formats/trace/meta.h"
#include "formats/trace/wire.h"
#include "viewer/app/index_cache.h"
#include "viewer/app/index_job.h"

#define SMALL (16u << 20)       /* bytes */
#define SMALL_PACKED (4u << 20) /* of gz and zst, which expand to ten times the size */
#define PORTION (16u << 20)     /* read at once from a followed file */
#define BEGINNING (sizeof(struct gt_wire_skip) + sizeof(struct gt_wire_segment))
/* time without growth before the lease is checked */
#define QUIET_NS 1000000000
#define NOTES 8
#define FEW_ROWS 1000000 /* a recording with fewer rows needs no upper summaries */

enum doing { DETECTING, INDEXING, READING, OPEN };

struct gt_trace_open {
	char *path;
	struct gt_trace_open_options options;
	enum doing doing;
	int fd;         /* of the file; -1: not open */
	struct stat st; /* the file when it was opened */
	struct gt_reader *reader;
	/* the copy in progress */
	struct gt_index_cache cache; /* folder -1: not used */
	struct gt_index_cache_key key;
	struct gt_atomic_file copy; /* fd -1: no copy */
	struct gt_index_job indexing;
	bool is_cached; /* the copy is stored in the cache */
	bool damaged;
	/* following */
	bool follows, abandoned;
	int64_t grew; /* time of the last growth, monotonic */
	char notes[NOTES][200];
	size_t nnotes;
	char progress_text[100];
};

static void __attribute__((format(printf, 2, 3)))
note(struct gt_trace_open *o, const char *fmt, ...)
{
	va_list ap;

	if (o->nnotes == NOTES)
		return;
	va_start(ap, fmt);
	vsnprintf(o->notes[o->nnotes++], sizeof(*o->notes), fmt, ap);
	va_end(ap);
}

/* ---- notes ---- */

struct recovered {
	int64_t complete_to;
	bool found;
};

static int look_for_recovered(void *arg, const char *key, const char *value)
{
	struct recovered *r = arg;

	if (!strcmp(key, "recovered.complete_to_ns")) {
		r->complete_to = strtoll(value, NULL, 10);
		r->found = true;
	}
	return 0;
}

/* The metadata of a copy describe the original. */
static void note_segment(struct gt_trace_open *o, uint32_t i)
{
	const struct gt_segment *seg = gt_reader_segment(o->reader, i);
	struct recovered r = { .complete_to = seg->complete_to, .found = !seg->closed };
	char which[32] = "";
	double s;

	if (seg->closed)
		gt_meta_each(seg, look_for_recovered, &r);
	if (!r.found)
		return;
	if (gt_reader_segments(o->reader) > 1)
		snprintf(which, sizeof(which), "recording %" PRIu32 ": ", i + 1);
	s = r.complete_to > seg->min_start ? (double)gt_since(r.complete_to, seg->min_start) / 1e9
					   : 0;
	note(o, "%s%s: complete to %.3f s", which,
		o->follows && !o->abandoned ? "still being written" : "not closed", s);
}

static void note_trace(struct gt_trace_open *o)
{
	for (uint32_t i = 0; i < gt_reader_segments(o->reader); i++)
		note_segment(o, i);
}

static void note_damage(struct gt_trace_open *o, const struct gt_index_result *result)
{
	o->damaged = result->damage;
	if (result->damage)
		note(o, "damaged at byte %" PRIu64 "%s: %.100s", result->damage_at,
			result->damage > 1 ? " and elsewhere" : "", result->damage_text);
}

/* ---- is a copy needed? ---- */

static int see_upper(void *arg, const struct gt_block_info *f)
{
	bool *has = arg;

	has[f->segment] |= f->upper;
	return 0;
}

/* A trace is indexed if it is closed and has upper summaries, or few rows. */
static bool is_indexed(struct gt_reader *r)
{
	uint32_t n = gt_reader_segments(r);
	bool *has = calloc(n + 1ul, sizeof(*has)),
	     all = has && !gt_each_block(r, see_upper, has, NULL);

	for (uint32_t i = 0; all && i < n; i++) {
		const struct gt_segment *seg = gt_reader_segment(r, i);
		uint64_t rows = seg->rows[GT_CALL] + seg->rows[GT_SPAN] + seg->rows[GT_GPU];

		all = seg->closed && (has[i] || rows < FEW_ROWS);
	}
	free(has);
	return all;
}

/* ---- a copy ---- */

static void release_copy(struct gt_trace_open *o)
{
	gt_index_job_cancel(&o->indexing);
	if (o->copy.fd >= 0)
		gt_atomic_file_close(&o->copy, o->cache.folder);
}

/* Uses the cached copy; removes it if it is invalid. */
static bool find_copy(struct gt_trace_open *o)
{
	int fd = o->cache.folder >= 0 ? gt_index_cache_find(&o->cache, &o->key) : -1, used;

	if (fd < 0)
		return false;
	used = gt_reader_is_closed(fd) ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : -1;
	o->reader = used >= 0 ? gt_reader_open_fd(used, NULL) : NULL;
	if (o->reader && !gt_index_is_copy(o->reader, o->key.id)) {
		gt_reader_close(o->reader);
		o->reader = NULL;
	}
	if (o->reader) {
		futimens(fd, NULL); /* it is used now */
		note(o, "index found; cached at %.120s/%s", o->cache.path, o->key.name);
	} else {
		gt_index_cache_remove(&o->cache, &o->key);
	}
	close(fd); /* the lock lasts until the reader closes its descriptor */
	return o->reader;
}

/* Stores the copy in the cache if possible, else in a file without a name. */
static int begin_copy(struct gt_trace_open *o, struct gt_err *err)
{
	struct gt_err why = GT_ERR_INIT;

	o->is_cached = o->cache.folder >= 0 && !gt_index_cache_begin(&o->cache, &o->copy, &why);
	if (why.code)
		note(o, "index not cached: %.150s", why.text);
	if (!o->is_cached)
		o->copy = (struct gt_atomic_file){ .fd = gt_temporary(err) };
	if (o->copy.fd < 0)
		return err->code;
	o->doing = INDEXING;
	return gt_index_job_begin(
		&o->indexing, o->fd, o->copy.fd, o->key.id, o->options.exclude, err);
}

/* The cache has no space: tries a temporary file. */
static int begin_copy_elsewhere(
	struct gt_trace_open *o, const struct gt_err *why, struct gt_err *err)
{
	char folder[PATH_MAX];

	note(o, "index not cached: no space left in %.120s", o->cache.path);
	snprintf(folder, sizeof(folder), "%s", o->cache.path);
	release_copy(o);
	gt_index_cache_close(&o->cache);
	if (lseek(o->fd, 0, SEEK_SET) != 0)
		return gt_err_set(err, why->code, "no space left for the index in %.120s: %s",
			folder, strerror(-why->code));
	return begin_copy(o, err);
}

static bool is_full(int code)
{
	return code == -ENOSPC || code == -EDQUOT || code == -EFBIG || code == -EROFS;
}

/* A copy of a trace that changed meanwhile is not valid. */
static bool is_unchanged(const struct gt_trace_open *o)
{
	struct gt_index_cache_key now;
	struct stat st;

	if (fstat(o->fd, &st))
		return false;
	gt_index_cache_key(&now, o->path, &st);
	return !strcmp(now.id, o->key.id);
}

static void commit_copy(struct gt_trace_open *o, const struct gt_index_result *result)
{
	struct gt_err why = GT_ERR_INIT;

	if (!o->is_cached)
		return;
	if (result->damage)
		note(o, "index not cached: the trace is damaged");
	else if (!is_unchanged(o))
		note(o, "index not cached: the file changed while it was indexed");
	else if (!gt_index_cache_commit(&o->cache, &o->copy, &o->key, &why))
		note(o, "indexed; cached at %.120s/%s", o->cache.path, o->key.name);
	else
		note(o, "index not cached: %.150s", why.text);
}

/* A trace in gt's format that cannot be copied is opened directly; drawing is slower. */
static int open_uncopied(
	struct gt_trace_open *o, const struct gt_index_result *result, struct gt_err *err)
{
	int copy = o->indexing.copying && !o->options.exclude && result->err.code != -EILSEQ
		? fcntl(o->fd, F_DUPFD_CLOEXEC, 0)
		: -1;

	o->reader = copy >= 0 ? gt_reader_open_fd(copy, NULL) : NULL;
	if (!o->reader) {
		if (is_full(result->err.code))
			return gt_err_set(err, result->err.code,
				"no space left for the index in %s (TMPDIR): %s",
				gt_temporary_folder(), strerror(-result->err.code));
		*err = result->err;
		return err->code;
	}
	note(o, "not indexed, so drawing is slower: %.140s", result->err.text);
	return 0;
}

static int end_copy(
	struct gt_trace_open *o, const struct gt_index_result *result, struct gt_err *err)
{
	int rc, copy;

	if (is_full(result->err.code) && o->is_cached)
		return begin_copy_elsewhere(o, &result->err, err);
	if (result->err.code) {
		rc = open_uncopied(o, result, err);
	} else {
		commit_copy(o, result);
		note_damage(o, result);
		copy = fcntl(o->copy.fd, F_DUPFD_CLOEXEC, 0);
		o->reader = copy >= 0 ? gt_reader_open_fd(copy, err) : NULL;
		rc = o->reader ? 0 : gt_err_set(err, -EMFILE, "too many open files");
	}
	release_copy(o);
	if (!rc) {
		o->doing = OPEN;
		note_trace(o);
	}
	return rc;
}

/* ---- detection ---- */

static int open_file(struct gt_trace_open *o, struct gt_err *err)
{
	o->fd = strcmp(o->path, "-") ? open(o->path, O_RDONLY | O_CLOEXEC)
				     : fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
	if (o->fd < 0 || fstat(o->fd, &o->st))
		return gt_err_set(err, -errno, "cannot open: %s", strerror(errno));
	return 0;
}

static bool is_packed(int fd)
{
	static const uint8_t gz[2] = { 0x1f, 0x8b }, zst[4] = { 0x28, 0xb5, 0x2f, 0xfd };
	uint8_t head[4] = { 0 };

	return !gt_pread(fd, head, sizeof(head), 0) &&
		(!memcmp(head, gz, sizeof(gz)) || !memcmp(head, zst, sizeof(zst)));
}

static bool is_small(const struct gt_trace_open *o)
{
	uint64_t most = o->options.small ? o->options.small
		: is_packed(o->fd)       ? SMALL_PACKED
					 : SMALL;

	return (uint64_t)o->st.st_size < most;
}

/* 1: it must be copied first; 0: it is open; negative. */
static int open_directly(struct gt_trace_open *o, bool ours, struct gt_err *err)
{
	bool closed = ours && gt_reader_is_closed(o->fd);

	if (!closed && !is_small(o))
		return 1;
	o->reader = closed ? gt_reader_open_fd(fcntl(o->fd, F_DUPFD_CLOEXEC, 0), err)
			   : gt_open_any_indexed(o->path, err);
	if (!o->reader)
		return err->code;
	if (!ours || is_small(o) || is_indexed(o->reader))
		return 0;
	gt_reader_close(o->reader);
	o->reader = NULL;
	return 1;
}

static int follow(struct gt_trace_open *o, struct gt_err *err)
{
	int copy = fcntl(o->fd, F_DUPFD_CLOEXEC, 0);

	o->reader = gt_reader_open_growing(copy, PORTION, err);
	o->follows = o->reader;
	o->doing = READING;
	o->grew = gt_clock_monotonic();
	return o->reader ? 1 : err->code;
}

/* The recorder has not written anything yet. */
static int wait_for_recorder(struct gt_trace_open *o, unsigned ms)
{
	if (o->fd >= 0)
		close(o->fd);
	o->fd = -1;
	poll(NULL, 0, (int)ms);
	return 1;
}

static int detect(struct gt_trace_open *o, unsigned ms, struct gt_err *err)
{
	struct gt_err why = GT_ERR_INIT;
	int rc = open_file(o, err);
	bool ours, regular;

	if (rc == -ENOENT && o->options.follow) {
		*err = (struct gt_err)GT_ERR_INIT;
		return wait_for_recorder(o, ms);
	}
	if (rc)
		return rc;
	regular = S_ISREG(o->st.st_mode) && lseek(o->fd, 0, SEEK_CUR) == 0;
	ours = regular && gt_may_be_native(o->fd);
	if (o->options.follow && regular && (uint64_t)o->st.st_size < BEGINNING)
		return wait_for_recorder(o, ms);
	if (o->options.follow && ours && !gt_reader_is_closed(o->fd))
		return follow(o, err);
	if (o->options.follow)
		note(o,
			ours ? "the trace is complete: there is nothing to follow"
			     : "only gt's own traces can be followed");
	rc = regular && !o->options.exclude ? open_directly(o, ours, err) : 1;
	if (rc < 0)
		return rc;
	if (rc && regular) {
		gt_index_cache_key(&o->key, o->path, &o->st);
		if (!o->options.uncached && !o->options.exclude &&
			gt_index_cache_open(&o->cache, &why))
			note(o, "index not cached: %.150s", why.text);
	}
	if (rc && !find_copy(o)) {
		rc = begin_copy(o, err);
		return rc ? rc : 1;
	}
	o->doing = OPEN;
	note_trace(o);
	return 0;
}

/* ---- steps ---- */

struct gt_trace_open *gt_trace_open_start(
	const char *path, const struct gt_trace_open_options *options, struct gt_err *err)
{
	struct gt_trace_open *o = calloc(1, sizeof(*o));

	if (o)
		*o = (struct gt_trace_open){
			.options = *options, .fd = -1, .cache.folder = -1, .copy.fd = -1
		};
	if (!o || !(o->path = strdup(path))) {
		gt_err_set(err, -ENOMEM, "out of memory");
		free(o);
		return NULL;
	}
	return o;
}

/* Returns to the state before the first step. */
static void reset(struct gt_trace_open *o)
{
	release_copy(o);
	gt_reader_close(o->reader);
	o->reader = NULL;
	gt_index_cache_close(&o->cache);
	if (o->fd >= 0)
		close(o->fd);
	o->fd = -1;
	o->doing = DETECTING;
	o->follows = o->abandoned = o->damaged = false;
	o->nnotes = 0;
}

void gt_trace_open_close(struct gt_trace_open *o)
{
	if (!o)
		return;
	reset(o);
	free(o->path);
	free(o);
}

/* Does no process have the file open for writing? A process that opens the file during the lease
 * makes the kernel send SIGIO, which would end the program, so it is blocked. */
static bool is_unwritten(int fd)
{
	sigset_t io, before;
	bool got;

	sigemptyset(&io);
	sigaddset(&io, SIGIO);
	if (pthread_sigmask(SIG_BLOCK, &io, &before))
		return false;
	got = !fcntl(fd, F_SETLEASE, F_RDLCK);
	if (got)
		fcntl(fd, F_SETLEASE, F_UNLCK);
	while (sigtimedwait(&io, NULL, &(struct timespec){ 0, 0 }) > 0)
		;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return got;
}

static void note_abandoned(struct gt_trace_open *o)
{
	o->abandoned = true;
	note(o, "the recorder ended without closing the trace");
}

static int read_portions(struct gt_trace_open *o, unsigned ms, struct gt_err *err)
{
	int64_t deadline = gt_clock_monotonic() + (int64_t)ms * 1000000;
	int rc;

	do
		rc = gt_reader_grow(o->reader, PORTION, err);
	while (rc > 0 && gt_clock_monotonic() < deadline);
	if (rc == -ESTALE)
		*err = (struct gt_err)GT_ERR_INIT;
	if (rc && rc != -ESTALE)
		return rc;
	o->doing = OPEN;
	if (is_unwritten(o->fd) && !gt_reader_is_closed(o->fd))
		note_abandoned(o);
	note_trace(o);
	return 0;
}

int gt_trace_open_step(struct gt_trace_open *o, unsigned ms, struct gt_err *err)
{
	struct gt_index_result result;
	int rc;

	switch (o->doing) {
	case DETECTING: return detect(o, ms, err);
	case INDEXING:
		if (gt_index_job_step(&o->indexing, ms, &result))
			return 1;
		rc = end_copy(o, &result, err);
		return rc < 0 ? rc : o->doing != OPEN;
	case READING: return read_portions(o, ms, err);
	default: return 0;
	}
}

/* ---- state ---- */

static uint64_t done(const struct gt_trace_open *o)
{
	return o->doing == INDEXING ? gt_index_job_done(&o->indexing)
		: o->reader         ? gt_reader_bytes(o->reader)
				    : 0;
}

/* The summaries of a copy are written at the end, which takes a quarter of the time without visible
 * progress. */
unsigned gt_trace_open_percent(const struct gt_trace_open *o)
{
	uint64_t all = S_ISREG(o->st.st_mode) ? (uint64_t)o->st.st_size : 0, n = done(o);
	unsigned most = o->doing == INDEXING && o->indexing.copying ? 75 : 99;

	if (o->doing == OPEN || o->doing == DETECTING || !all)
		return o->doing == OPEN ? 100 : 0;
	return n >= all ? most : (unsigned)((double)n * most / (double)all);
}

const char *gt_trace_open_progress(const struct gt_trace_open *o)
{
	struct gt_trace_open *to = (struct gt_trace_open *)o; /* progress_text is a cache */
	double all = S_ISREG(o->st.st_mode) ? (double)o->st.st_size : 0,
	       unit = all < 1e9 ? 1e6 : 1e9;
	const char *what = o->doing == INDEXING ? "indexing" : "reading",
		   *name = unit < 1e9 ? "MB" : "GB";

	if (o->doing == DETECTING || o->doing == OPEN)
		return o->doing == OPEN     ? "open"
			: o->options.follow ? "waiting for the recording to begin"
					    : "opening";
	if (all > 0)
		snprintf(to->progress_text, sizeof(to->progress_text), "%s: %.1f of %.1f %s", what,
			(double)done(o) / unit, all / unit, name);
	else
		snprintf(to->progress_text, sizeof(to->progress_text), "%s: %.1f MB so far", what,
			(double)done(o) / 1e6);
	return o->progress_text;
}

struct gt_reader *gt_trace_open_result(const struct gt_trace_open *o)
{
	return o->doing == OPEN ? o->reader : NULL;
}
const char *gt_trace_open_path(const struct gt_trace_open *o) { return o->path; }
bool gt_trace_open_is_following(const struct gt_trace_open *o)
{
	return o->doing == OPEN && o->follows && !o->abandoned;
}
bool gt_trace_open_is_waiting(const struct gt_trace_open *o)
{
	return o->doing == DETECTING && o->options.follow && o->fd < 0;
}
bool gt_trace_open_is_damaged(const struct gt_trace_open *o) { return o->damaged; }
const char *gt_trace_open_note(const struct gt_trace_open *o, size_t i)
{
	return i < o->nnotes ? o->notes[i] : NULL;
}

/* ---- following ---- */

static bool is_replaced(const struct gt_trace_open *o)
{
	struct stat st;

	return !stat(o->path, &st) && (st.st_dev != o->st.st_dev || st.st_ino != o->st.st_ino);
}

/* A recorder that overwrote the file may have written more than the old size. */
static bool is_written_over(const struct gt_trace_open *o)
{
	struct gt_reader *r = o->reader;
	struct gt_wire_segment head;

	return gt_reader_segments(r) &&
		!gt_pread(o->fd, &head, sizeof(head), sizeof(struct gt_wire_skip)) &&
		head.id != gt_reader_segment(r, 0)->id;
}

/* The file became shorter or was replaced. */
static bool is_other_file(const struct gt_trace_open *o, const struct stat *now)
{
	return (uint64_t)now->st_size < gt_reader_bytes(o->reader) || is_replaced(o) ||
		is_written_over(o);
}

enum gt_follow_state gt_trace_open_poll(struct gt_trace_open *o)
{
	int64_t now = gt_clock_monotonic();
	struct stat st;
	uint64_t known;

	if (o->doing != OPEN || !o->follows)
		return GT_FOLLOW_UNCHANGED;
	known = gt_reader_bytes(o->reader);
	if (fstat(o->fd, &st) || is_other_file(o, &st))
		return GT_FOLLOW_REPLACED;
	if ((uint64_t)st.st_size > known) {
		o->grew = now;
		return gt_reader_is_closed(o->fd) ? GT_FOLLOW_CLOSED : GT_FOLLOW_GREW;
	}
	if (o->abandoned || now - o->grew < QUIET_NS)
		return GT_FOLLOW_UNCHANGED;
	o->grew = now;
	if (!is_unwritten(o->fd))
		return GT_FOLLOW_UNCHANGED;
	o->nnotes = 0;
	note_abandoned(o);
	note_trace(o);
	return GT_FOLLOW_ABANDONED;
}

int gt_trace_open_refresh(struct gt_trace_open *o, struct gt_err *err)
{
	struct stat st;
	int rc;

	if (o->doing != OPEN || !o->follows)
		return 0;
	if (fstat(o->fd, &st) || is_other_file(o, &st)) {
		reset(o);
		return 0;
	}
	while ((rc = gt_reader_grow(o->reader, UINT64_MAX, err)) > 0)
		;
	if (rc) {
		reset(o);
		return rc;
	}
	o->abandoned = false;
	o->follows = !gt_reader_is_closed(o->fd);
	o->nnotes = 0;
	note_trace(o);
	if (!o->follows)
		note(o, "complete: the recorder closed the trace");
	return 0;
}
