/* The table of importers, and the one way in for all tools: whatever the file is, a reader of our
 * own format comes out. */
#define _GNU_SOURCE
#include "formats/import/importers.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "formats/os/file.h"
#include "formats/io/stream_in.h"

extern const struct gt_importer gt_import_jsonl_a, gt_import_jsonl_b, gt_import_kineto;

const struct gt_importer *const gt_importers[] = { &gt_import_jsonl_b, &gt_import_jsonl_a,
	&gt_import_kineto, NULL };

static const struct gt_importer *best(const char *head, size_t len)
{
	const struct gt_importer *best = NULL;
	int sure = 0;

	for (const struct gt_importer *const *i = gt_importers; *i; i++) {
		int s = (*i)->sniff(head, len);

		if (s > sure) {
			sure = s;
			best = *i;
		}
	}
	return best;
}

/* err is not NULL. meta: more metadata, or NULL. */
static int import_to(int fd, const struct gt_importer *importer, struct gt_in *in, const char *meta,
	struct gt_err *err)
{
	/* nobody knows whose clock it was */
	struct gt_writer_options opt = { .level = 1, .meta_json = meta, .host = "", .boot_id = "" };
	struct gt_writer *w = gt_writer_open(fd, &opt, err);
	int e;

	if (!w)
		return err->code;
	e = importer->import(in, w, err);
	if (!e)
		return gt_writer_close(w, err);
	gt_writer_abandon(w);
	return e;
}

/* The importer for this stream. NULL when there is none, with an error only for JSON: then it is no
 * trace of any kind. */
static const struct gt_importer *find(struct gt_in *in, struct gt_err *err)
{
	const char *head, *other;
	ssize_t n = gt_in_peek(in, &head, err);
	const struct gt_importer *importer = n > 0 ? best(head, (size_t)n) : NULL;

	if (n > 0 && !importer && (other = gt_describe_json(head, (size_t)n)))
		gt_err_at(err, 0, -EILSEQ, "JSON without traceEvents%s%s",
			*other ? ": it looks like " : "", other);
	return importer;
}

static struct gt_reader *import(
	const struct gt_importer *importer, struct gt_in *in, struct gt_err *err)
{
	struct gt_err why = GT_ERR_INIT;
	int fd = gt_temporary(err), copy, e;

	if (fd < 0)
		return NULL;
	copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	e = copy >= 0 ? import_to(copy, importer, in, NULL, &why)
		      : gt_err_set(&why, -errno, "no more descriptors");
	if (!e && lseek(fd, 0, SEEK_SET) == 0)
		return gt_reader_open_fd(fd, err);
	/* nobody asked for a file there: say where and why it is */
	if (e == -ENOSPC || e == -EDQUOT || e == -EFBIG)
		gt_err_set(err, e, "no room for the imported trace in %s (TMPDIR): %s",
			gt_temporary_folder(), strerror(-e));
	else if (err && !err->code)
		*err = why;
	close(fd);
	return NULL;
}

static bool begins_like_ours(const uint8_t *p, size_t n)
{
	return n >= 4 && (p[0] & 0xf0) == 0x50 && p[1] == 0x2a && p[2] == 0x4d && p[3] == 0x18;
}

/* A trace in our own format begins with a skippable zst frame. Other tools' files may, too: then it
 * is told later. */
static bool may_be_ours(const struct gt_in *in)
{
	const uint8_t *p;
	size_t n = gt_in_raw_head(in, &p);

	return begins_like_ours(p, n);
}

bool gt_may_be_native(int fd)
{
	uint8_t head[4];

	return !gt_pread(fd, head, sizeof(head), 0) && begins_like_ours(head, sizeof(head));
}

bool gt_is_trace(const char *path)
{
	struct gt_err err = GT_ERR_INIT;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct gt_in *in = fd >= 0 ? gt_in_open_fd(fd, &err) : NULL;
	bool is = in && (may_be_ours(in) || find(in, &err));

	gt_in_close(in);
	return is;
}

static int write_fully(int fd, const char *p, size_t n, struct gt_err *err)
{
	while (n) {
		ssize_t done = write(fd, p, n);

		if (done < 0 && errno != EINTR)
			return gt_err_set(
				err, -errno, "cannot write a temporary file: %s", strerror(errno));
		p += done > 0 ? done : 0;
		n -= done > 0 ? (size_t)done : 0;
	}
	return 0;
}

/* The rest of the stream as it lies there. */
static int copy_raw(struct gt_in *in, int to, struct gt_err *err)
{
	static const size_t room = 64u << 10;
	char *bytes = malloc(room);
	int e = bytes ? 0 : gt_err_set(err, -ENOMEM, "no memory to read");
	ssize_t n = 0;

	while (!e && (n = gt_in_read_raw(in, bytes, room, err)) > 0)
		e = write_fully(to, bytes, (size_t)n, err);
	free(bytes);
	return e ? e : (int)n;
}

/* The same in a file that can be read in any order. Takes in over; the descriptor or negative. */
static int spool(struct gt_in *in, struct gt_err *err)
{
	int fd = gt_temporary(err), e = fd < 0 ? fd : copy_raw(in, fd, err);

	if (e && fd >= 0)
		close(fd);
	gt_in_close(in);
	return e ? e : fd;
}

int gt_import(int from, int to, const char *meta, struct gt_err *err)
{
	struct gt_in *in = gt_in_open_fd(from, err);
	const struct gt_importer *importer;
	int copy, e;

	if (!in)
		return err->code;
	if (may_be_ours(in)) {
		e = copy_raw(in, to, err);
	} else if (!(importer = find(in, err))) {
		e = gt_err_set(err, -EILSEQ, "neither a gt trace nor a file that can be imported");
	} else {
		copy = fcntl(to, F_DUPFD_CLOEXEC, 0);
		e = copy < 0 ? gt_err_set(err, -errno, "no more descriptors")
			     : import_to(copy, importer, in, meta, err);
	}
	gt_in_close(in);
	return e;
}

/* fd stays the caller's, and where it was. */
static struct gt_reader *read_ours(int fd, struct gt_err *err)
{
	off_t at = lseek(fd, 0, SEEK_CUR);
	int copy = at >= 0 && lseek(fd, 0, SEEK_SET) == 0 ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : -1;
	struct gt_reader *r = copy >= 0 ? gt_reader_open_fd(copy, err) : NULL;

	if (copy < 0 || (!r && lseek(fd, at, SEEK_SET) < 0))
		gt_err_set(err, -errno, "cannot read it again: %s", strerror(errno));
	return r;
}

/* What begins like ours is tried as ours first. What does not is imported if somebody knows it, and
 * only then tried as ours: it may be a trace with a damaged beginning, and if not, the reader has
 * the words for what it looks like. Takes fd over; it is at the start of a file that can be read in
 * any order. */
static struct gt_reader *open_file(int fd, struct gt_err *err)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	struct gt_in *in = copy >= 0 ? gt_in_open_fd(copy, err) : NULL;
	const struct gt_importer *importer = NULL;
	struct gt_err ours = GT_ERR_INIT, theirs = GT_ERR_INIT;
	struct gt_reader *r = NULL;
	bool first = in && may_be_ours(in);

	if (copy < 0)
		gt_err_set(err, -errno, "no more descriptors");
	if (first)
		r = read_ours(fd, &ours);
	if (in && !r && (!first || ours.code == -EILSEQ))
		importer = find(in, &theirs);
	if (importer)
		r = import(importer, in, err);
	else if (in && !first && !theirs.code)
		r = read_ours(fd, &ours);
	if (!r && err && !err->code)
		*err = theirs.code ? theirs : ours;
	gt_in_close(in);
	close(fd);
	return r;
}

/* A stream that cannot be read twice. Takes in over. */
static struct gt_reader *open_stream(struct gt_in *in, struct gt_err *err)
{
	const struct gt_importer *importer;
	struct gt_reader *r = NULL;
	int fd;

	if (may_be_ours(in)) {
		fd = spool(in, err);
		if (fd < 0 || lseek(fd, 0, SEEK_SET) == 0)
			return fd < 0 ? NULL : open_file(fd, err);
		close(fd);
		return NULL;
	}
	importer = find(in, err);
	if (importer)
		r = import(importer, in, err);
	else
		gt_err_set(err, -EILSEQ, "neither a gt trace nor a file that can be imported");
	gt_in_close(in);
	return r;
}

struct gt_reader *gt_open_any(const char *path, struct gt_err *err)
{
	int fd = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC)
				   : fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
	struct stat st;
	struct gt_in *in;

	if (fd < 0) {
		gt_err_set(err, -errno, "cannot open: %s", strerror(errno));
		return NULL;
	}
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && lseek(fd, 0, SEEK_CUR) == 0)
		return open_file(fd, err);
	in = gt_in_open_fd(fd, err);
	return in ? open_stream(in, err) : NULL;
}
