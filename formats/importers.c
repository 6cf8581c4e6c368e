/* The table of importers, and the one way in for all tools: whatever the file is, a reader of our own format comes out. */
#define _GNU_SOURCE
#include "formats/importers.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "formats/in.h"

extern const struct gt_importer gt_import_jsonl_a, gt_import_jsonl_b;

const struct gt_importer *const gt_importers[] = { &gt_import_jsonl_b, &gt_import_jsonl_a, NULL };

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

/* A file without a name, gone with its last descriptor. */
static int temporary(struct gt_err *err)
{
	const char *dir = getenv("TMPDIR");
	char path[4096];
	int fd;

	dir = dir && *dir ? dir : "/tmp";
	fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd >= 0)
		return fd;
	if (snprintf(path, sizeof(path), "%s/gt-XXXXXX", dir) >= (int)sizeof(path))	/* a file system without O_TMPFILE */
		return gt_err_set(err, -ENAMETOOLONG, "TMPDIR is too long");
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return gt_err_set(err, -errno, "cannot make a temporary file in %s: %s", dir, strerror(errno));
	unlink(path);
	return fd;
}

static int import_to(int fd, const struct gt_importer *importer, struct gt_in *in, struct gt_err *err)
{
	struct gt_writer_options opt = { .level = 1, .host = "", .boot_id = "" };	/* nobody knows whose clock it was */
	struct gt_writer *w = gt_writer_open(fd, &opt, err);
	int e;

	if (!w)
		return -EIO;
	e = importer->import(in, w, err);
	if (!e)
		return gt_writer_close(w, err);
	gt_writer_abandon(w);
	return e;
}

/* ours: why it is no trace in our own format, if that was tried. Takes in over. */
static struct gt_reader *import(struct gt_in *in, const struct gt_err *ours, struct gt_err *err)
{
	const struct gt_importer *importer = NULL;
	const char *head;
	ssize_t n = gt_in_peek(in, &head, err);
	int fd, copy, e = -1;

	if (n >= 0)
		importer = best(head, (size_t)n);
	if (n >= 0 && !importer) {
		if (ours && err)
			*err = *ours;
		gt_err_set(err, -EILSEQ, n ? "neither a gt trace nor a file that can be imported" : "an empty file");
	}
	fd = importer ? temporary(err) : -1;
	if (fd >= 0) {
		copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
		e = copy >= 0 ? import_to(copy, importer, in, err) : gt_err_set(err, -errno, "no more descriptors");
	}
	gt_in_close(in);
	if (!e && lseek(fd, 0, SEEK_SET) == 0)
		return gt_reader_open_fd(fd, err);
	if (fd >= 0)
		close(fd);
	return NULL;
}

/* A trace in our own format begins with a skippable zst frame. Other tools' files may, too: then it is told later. */
static bool may_be_ours(const struct gt_in *in)
{
	const uint8_t *p;
	size_t n = gt_in_raw_head(in, &p);

	return n >= 4 && (p[0] & 0xf0) == 0x50 && p[1] == 0x2a && p[2] == 0x4d && p[3] == 0x18;
}

static int write_fully(int fd, const char *p, size_t n, struct gt_err *err)
{
	while (n) {
		ssize_t done = write(fd, p, n);

		if (done < 0 && errno != EINTR)
			return gt_err_set(err, -errno, "cannot write a temporary file: %s", strerror(errno));
		p += done > 0 ? done : 0;
		n -= done > 0 ? (size_t)done : 0;
	}
	return 0;
}

/* The rest of the stream as it lies there, in a file that can be read in any order. Takes in over; the descriptor or negative. */
static int spool(struct gt_in *in, struct gt_err *err)
{
	static const size_t room = 64u << 10;
	char *bytes = malloc(room);
	int fd = bytes ? temporary(err) : gt_err_set(err, -ENOMEM, "no memory to read"), e = fd < 0 ? fd : 0;
	ssize_t n = 0;

	while (!e && (n = gt_in_read_raw(in, bytes, room, err)) > 0)
		e = write_fully(fd, bytes, (size_t)n, err);
	e = e ? e : (int)n;
	if (e && fd >= 0)
		close(fd);
	free(bytes);
	gt_in_close(in);
	return e ? e : fd;
}

/* Ours if it is, an import otherwise. fd is at the start of a file that can be read in any order; taken over. */
static struct gt_reader *open_file(int fd, struct gt_err *err)
{
	struct gt_err ours = GT_ERR_INIT;
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	struct gt_reader *r = copy >= 0 ? gt_reader_open_fd(copy, &ours) : NULL;
	struct gt_in *in;

	if (copy < 0)
		gt_err_set(&ours, -errno, "no more descriptors");
	if (r || ours.code != -EILSEQ) {
		close(fd);
		if (!r && err && !err->code)
			*err = ours;
		return r;
	}
	if (lseek(fd, 0, SEEK_SET) < 0) {
		gt_err_set(err, -errno, "cannot read it again: %s", strerror(errno));
		close(fd);
		return NULL;
	}
	in = gt_in_open_fd(fd, err);
	return in ? import(in, &ours, err) : NULL;
}

struct gt_reader *gt_open_any(const char *path, struct gt_err *err)
{
	int fd = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC) : fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
	struct stat st;
	struct gt_in *in;

	if (fd < 0) {
		gt_err_set(err, -errno, "cannot open: %s", strerror(errno));
		return NULL;
	}
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && lseek(fd, 0, SEEK_CUR) == 0)
		return open_file(fd, err);
	in = gt_in_open_fd(fd, err);
	if (!in || !may_be_ours(in))
		return in ? import(in, NULL, err) : NULL;
	fd = spool(in, err);
	if (fd < 0)
		return NULL;
	lseek(fd, 0, SEEK_SET);
	return open_file(fd, err);
}
