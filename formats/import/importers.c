/* The table of importers, and the function by which all programs open a file of any
 * format: it returns a reader of gt's own format. */
#define _GNU_SOURCE
#include "formats/import/importers.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "formats/base/progress.h"
#include "formats/os/file.h"
#include "formats/io/json_scan.h"
#include "formats/io/stream_in.h"

/* One row for each importer: gt_import_NAME. */
#define IMPORTERS(X)                                                                               \
	X(jsonl_b)                                                                                 \
	X(jsonl_a)                                                                                 \
	X(kineto)                                                                                  \
	X(perfetto)                                                                                \
	X(strace)                                                                                  \
	X(parquet)                                                                                 \
	X(torch_memory)                                                                            \
	X(flight_recorder)                                                                         \
	X(nccl_inspector)                                                                          \
	X(parcagpu)                                                                                \
	X(bpftime)                                                                                 \
	X(speedscope)                                                                              \
	X(perf_script)                                                                             \
	X(uftrace)                                                                                 \
	X(nsight)

#define DECLARE(name) extern const struct gt_importer gt_import_##name;
IMPORTERS(DECLARE)
#define ADDRESS(name) &gt_import_##name,
const struct gt_importer *const gt_importers[] = { IMPORTERS(ADDRESS) NULL };

/* ---- JSON of other kinds ---- */

#define TOKENS 4000u

/* The kind of an object that has `key` and, if not NULL, `other`. */
static const struct {
	const char *key, *other, *what;
} kinds[] = {
	{ "nodes", "schema", "an execution trace of PyTorch (ExecutionTraceObserver)" },
	{ "device_traces", "segments",
		"a snapshot of PyTorch's GPU memory (only its pickle is read)" },
	{ "$schema", "profiles", "a profile of speedscope" },
	{ "$schema", "shared", "a profile of speedscope" },
	{ "nodes", NULL, "a graph" },
};
#define KINDS (sizeof(kinds) / sizeof(*kinds))

static const char *object_kind(struct gt_json *j)
{
	bool key[KINDS] = { false }, other[KINDS] = { false };
	unsigned n = 0;
	int t;

	while (n++ < TOKENS && (t = gt_json_next(j, NULL)) > 0 && j->depth)
		for (size_t i = 0; t == GT_JSON_KEY && j->depth == 1 && i < KINDS; i++) {
			key[i] |= gt_json_is(j, kinds[i].key);
			other[i] |= !kinds[i].other || gt_json_is(j, kinds[i].other);
		}
	for (size_t i = 0; i < KINDS; i++)
		if (key[i] && (other[i] || !kinds[i].other))
			return kinds[i].what;
	return "";
}

/* export_memory_timeline() of PyTorch's profiler writes [[times], [sizes of each category]], or,
 * raw, [[time, action, bytes, category], ...]. */
static const char *array_kind(struct gt_json *j)
{
	int t = gt_json_next(j, NULL), next;

	if (t != GT_JSON_ARRAY)
		return t == GT_JSON_OBJECT ? "a list of objects without a phase" : "";
	next = gt_json_next(j, NULL);
	return next == GT_JSON_INT || next == GT_JSON_REAL
		? "a memory timeline of PyTorch (export_memory_timeline)"
		: "";
}

/* Does anything but white space follow the value? It does in a damaged trace, which
 * begins with its metadata. */
static bool has_more(struct gt_json *j) { return !j->depth && gt_json_next(j, NULL) != 0; }

/* The kind of a JSON file that no importer reads, by its first bytes; "": unknown; NULL: it is no
 * JSON object or array. */
static const char *describe_json(const char *head, size_t len)
{
	struct gt_in *in = gt_in_memory(head, len, NULL);
	const char *what = NULL;
	struct gt_json j;
	int t;

	if (in && !gt_json_init(&j, in, false, NULL)) {
		t = gt_json_next(&j, NULL);
		what = t == GT_JSON_OBJECT   ? object_kind(&j)
			: t == GT_JSON_ARRAY ? array_kind(&j)
					     : NULL;
		what = what && has_more(&j) ? NULL : what;
		gt_json_release(&j);
	}
	gt_in_close(in);
	return what;
}

/* ---- finding the importer ---- */

static const struct gt_importer *find_best(const char *head, size_t len)
{
	const struct gt_importer *best = NULL;
	int sure = 0;

	for (const struct gt_importer *const *i = gt_importers; *i; i++) {
		int s = (*i)->sniff ? (*i)->sniff(head, len) : 0;

		if (s > sure) {
			sure = s;
			best = *i;
		}
	}
	return best;
}

static bool is_folder(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && S_ISDIR(st.st_mode);
}

static const struct gt_importer *find_for_folder(int folder, struct gt_err *err)
{
	for (const struct gt_importer *const *i = gt_importers; *i; i++)
		if ((*i)->is_folder && (*i)->is_folder(folder))
			return *i;
	gt_err_set(err, -EISDIR, "is a folder: name one of the traces in it");
	return NULL;
}

/* What is imported: a stream, or else a folder. */
struct source {
	const struct gt_importer *importer;
	struct gt_in *in;
	int folder;
	bool no_summaries; /* as in struct gt_writer_options */
};

/* err must not be NULL. meta: more metadata, or NULL. */
static int import_to(int fd, const struct source *from, const char *meta, struct gt_err *err)
{
	/* the host of the recording is unknown */
	struct gt_writer_options opt = { .level = 1,
		.no_summaries = from->no_summaries,
		.meta_json = meta,
		.host = "",
		.boot_id = "" };
	struct gt_writer *w = gt_writer_open(fd, &opt, err);
	int e;

	if (!w)
		return err->code;
	gt_progress_begin("importing", from->in ? gt_in_file_bytes(from->in) : 0);
	e = from->in ? from->importer->import(from->in, w, err)
		     : from->importer->import_folder(from->folder, w, err);
	if (!e)
		return gt_writer_close(w, err);
	gt_writer_abandon(w);
	return e;
}

/* The importer for this stream. NULL: there is none; an error is set only for JSON,
 * which is no trace of any kind. */
static const struct gt_importer *find(struct gt_in *in, struct gt_err *err)
{
	const char *head, *other;
	ssize_t n = gt_in_peek(in, &head, err);
	const struct gt_importer *importer = n > 0 ? find_best(head, (size_t)n) : NULL;

	if (n > 0 && !importer && (other = describe_json(head, (size_t)n)))
		gt_err_at(err, 0, -EILSEQ, "JSON without traceEvents%s%s",
			*other ? ": it looks like " : "", other);
	return importer;
}

static struct gt_reader *import(const struct source *from, struct gt_err *err)
{
	struct gt_err why = GT_ERR_INIT;
	int fd = gt_temporary(err), copy, e;

	if (fd < 0)
		return NULL;
	copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	e = copy >= 0 ? import_to(copy, from, NULL, &why)
		      : gt_err_set(&why, -errno, "no more descriptors");
	if (!e && lseek(fd, 0, SEEK_SET) == 0)
		return gt_reader_open_fd(fd, err);
	/* the user did not name this file: the message says where it is and why */
	if (e == -ENOSPC || e == -EDQUOT || e == -EFBIG)
		gt_err_set(err, e, "cannot store the imported trace in %s (TMPDIR): %s",
			gt_temporary_folder(), strerror(-e));
	else if (err && !err->code)
		*err = why;
	close(fd);
	return NULL;
}

static bool is_skippable_frame(const uint8_t *p, size_t n)
{
	return n >= 4 && (p[0] & 0xf0) == 0x50 && p[1] == 0x2a && p[2] == 0x4d && p[3] == 0x18;
}

/* A trace in gt's format begins with a skippable zst frame. Files of other tools
 * may, too: the reader detects that. */
static bool may_be_native(const struct gt_in *in)
{
	const uint8_t *p;
	size_t n = gt_in_raw_head(in, &p);

	return is_skippable_frame(p, n);
}

bool gt_may_be_native(int fd)
{
	uint8_t head[4];

	return !gt_pread(fd, head, sizeof(head), 0) && is_skippable_frame(head, sizeof(head));
}

bool gt_is_trace(const char *path)
{
	struct gt_err err = GT_ERR_INIT;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct gt_in *in;
	bool is;

	if (fd >= 0 && is_folder(fd)) {
		is = find_for_folder(fd, &err);
		close(fd);
		return is;
	}
	in = fd >= 0 ? gt_in_open_fd(fd, &err) : NULL;
	is = in && (may_be_native(in) || find(in, &err));
	gt_in_close(in);
	return is;
}

/* Copies the rest of the stream without unpacking it. */
static int copy_raw(struct gt_in *in, int to, struct gt_err *err)
{
	gt_progress_begin("reading", gt_in_file_bytes(in));
	return gt_in_copy(in, to, true, err);
}

/* Copies the stream to a temporary file, which can be read in any order. Takes in over; returns the
 * descriptor or negative. */
static int spool(struct gt_in *in, struct gt_err *err)
{
	int fd = gt_temporary(err), e = fd < 0 ? fd : copy_raw(in, fd, err);

	if (e && fd >= 0)
		close(fd);
	gt_in_close(in);
	return e ? e : fd;
}

static int import_copy(const struct source *from, int to, const char *meta, struct gt_err *err)
{
	int copy = fcntl(to, F_DUPFD_CLOEXEC, 0);

	return copy < 0 ? gt_err_set(err, -errno, "no more descriptors")
			: import_to(copy, from, meta, err);
}

static int import_folder(int folder, int to, const char *meta, struct gt_err *err)
{
	struct source from = { find_for_folder(folder, err), NULL, folder, false };
	int e = from.importer ? import_copy(&from, to, meta, err) : err->code;

	close(folder);
	return e;
}

int gt_import(int from, int to, const char *meta, struct gt_err *err)
{
	const struct gt_importer *importer;
	struct gt_in *in;
	int e;

	if (is_folder(from))
		return import_folder(from, to, meta, err);
	in = gt_in_open_fd(from, err);
	if (!in)
		return err->code;
	if (may_be_native(in))
		e = copy_raw(in, to, err);
	else if (!(importer = find(in, err)))
		e = gt_err_set(err, -EILSEQ, "neither a gt trace nor a file that can be imported");
	else
		e = import_copy(&(struct source){ importer, in, -1, false }, to, meta, err);
	gt_in_close(in);
	return e;
}

/* Opens fd as a trace in gt's format. The caller keeps fd, and its position. */
static struct gt_reader *open_native(int fd, struct gt_err *err)
{
	off_t at = lseek(fd, 0, SEEK_CUR);
	int copy = at >= 0 && lseek(fd, 0, SEEK_SET) == 0 ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : -1;
	struct gt_reader *r = copy >= 0 ? gt_reader_open_fd(copy, err) : NULL;

	if (copy < 0 || (!r && lseek(fd, at, SEEK_SET) < 0))
		gt_err_set(err, -errno, "cannot read the file again: %s", strerror(errno));
	return r;
}

/* A file that begins like a gt trace is opened as one first. Another file is
 * imported, if there is an importer for it. If not, it is opened as a gt trace: it may
 * have a damaged beginning, and if it has not, the reader's error names the format that
 * it resembles. Takes fd over, which is at the start of a regular file. */
static struct gt_reader *open_file(int fd, const char *path, bool no_summaries, struct gt_err *err)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	struct gt_in *in = copy >= 0 ? gt_in_open_fd(copy, err) : NULL;
	const struct gt_importer *importer = NULL;
	struct gt_err native = GT_ERR_INIT, foreign = GT_ERR_INIT;
	struct gt_reader *r = NULL;
	bool first = in && may_be_native(in);

	if (copy < 0)
		gt_err_set(err, -errno, "no more descriptors");
	if (in)
		gt_in_set_name(in, path);
	if (first)
		r = open_native(fd, &native);
	if (in && !r && (!first || native.code == -EILSEQ))
		importer = find(in, &foreign);
	if (importer)
		r = import(&(struct source){ importer, in, -1, no_summaries }, err);
	else if (in && !first && !foreign.code)
		r = open_native(fd, &native);
	if (!r && err && !err->code)
		*err = foreign.code ? foreign : native;
	gt_in_close(in);
	close(fd);
	return r;
}

/* Opens a stream that cannot be read twice. Takes in over. */
static struct gt_reader *open_stream(struct gt_in *in, bool no_summaries, struct gt_err *err)
{
	const struct gt_importer *importer;
	struct gt_reader *r = NULL;
	int fd;

	if (may_be_native(in)) {
		fd = spool(in, err);
		if (fd < 0 || lseek(fd, 0, SEEK_SET) == 0)
			return fd < 0 ? NULL : open_file(fd, NULL, no_summaries, err);
		close(fd);
		return NULL;
	}
	importer = find(in, err);
	if (importer)
		r = import(&(struct source){ importer, in, -1, no_summaries }, err);
	else
		gt_err_set(err, -EILSEQ, "neither a gt trace nor a file that can be imported");
	gt_in_close(in);
	return r;
}

/* Takes fd over. */
static struct gt_reader *open_folder(int fd, bool no_summaries, struct gt_err *err)
{
	struct source from = { find_for_folder(fd, err), NULL, fd, no_summaries };
	struct gt_reader *r = NULL;

	if (from.importer)
		r = import(&from, err);
	close(fd);
	return r;
}

static struct gt_reader *open_any(const char *path, bool no_summaries, struct gt_err *err)
{
	int fd = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC)
				   : fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
	struct stat st;
	struct gt_in *in;

	if (fd < 0) {
		gt_err_set(err, -errno, "cannot open: %s", strerror(errno));
		return NULL;
	}
	if (is_folder(fd))
		return open_folder(fd, no_summaries, err);
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && lseek(fd, 0, SEEK_CUR) == 0)
		return open_file(fd, path, no_summaries, err);
	in = gt_in_open_fd(fd, err);
	return in ? open_stream(in, no_summaries, err) : NULL;
}

struct gt_reader *gt_open_any(const char *path, struct gt_err *err)
{
	return open_any(path, true, err);
}

struct gt_reader *gt_open_any_indexed(const char *path, struct gt_err *err)
{
	return open_any(path, false, err);
}
