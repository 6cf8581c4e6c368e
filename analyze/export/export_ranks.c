#define _GNU_SOURCE /* asprintf */
/* Exports several traces as the ranks of one run (ranks.h): a tar archive with one file for each
 * rank, and Perfetto's manifest, which comes first.
 *
 * Each file is written into a temporary file, because a tar archive has its size before it. --from
 * and --to count from the first event of all ranks that share a clock, as in reports. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "analyze/export/export_internal.h"
#include "analyze/ranks/ranks.h"
#include "formats/base/alloc_failure.h"
#include "formats/base/numbers.h"
#include "formats/cmdline/progress_line.h"
#include "formats/export/perfetto/perfetto_manifest.h"
#include "formats/io/tar_write.h"
#include "formats/os/file.h"
#include "formats/text/printable.h"

#define OPENERS 4u
#define LABEL_MAX 80u /* bytes of a rank's label in the name of its file */

struct archive {
	const struct gt_export_args *args;
	const struct gt_exporter *exporter;
	struct gt_ranks ranks;
	struct gt_perfetto_file *files;
	char **texts;            /* of files: their names, then their machines */
	struct gt_range *ranges; /* by recording of ranks.all */
	struct gt_out out;
	time_t now;
};

/* ---- names ---- */

/* The rank's number or label, in letters that no program treats in a special way. new, or NULL: no
 * memory. A label may be that of another rank in such letters, so the file has its index, too. */
static char *file_name(const struct gt_ranks *ranks, size_t i, const char *suffix)
{
	const char *label = ranks->list[i].label;
	int len = (int)gt_export_stem(label, strnlen(label, LABEL_MAX));
	char *name = NULL;

	if (ranks->numbered)
		return asprintf(&name, "rank-%s.%s", label, suffix) < 0 ? NULL : name;
	if (asprintf(&name, "%zu-%.*s.%s", i, len, label, suffix) < 0)
		return NULL;
	for (char *c = name; *c; c++)
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-",
			    *c))
			*c = '_';
	return name;
}

/* "rank 3 (node1)": the rank and its host. new, or NULL: no memory. */
static char *machine_name(const struct gt_rank *rank)
{
	const char *host =
		gt_reader_segments(rank->reader) ? gt_reader_segment(rank->reader, 0)->host : NULL;
	char *name = NULL;
	int n = host && *host ? asprintf(&name, "%s (%s)", rank->called, host)
			      : asprintf(&name, "%s", rank->called);

	return n < 0 ? NULL : name;
}

static int name_files(struct archive *to, struct gt_err *err)
{
	const size_t n = to->ranks.nread;

	to->files = calloc(n + 1, sizeof(*to->files));
	to->texts = calloc(2 * n + 1, sizeof(*to->texts));
	for (size_t i = 0; to->files && to->texts && i < n; i++) {
		const struct gt_rank *rank = &to->ranks.list[i];

		to->texts[2 * i] = file_name(&to->ranks, i, to->exporter->suffix);
		to->texts[2 * i + 1] = machine_name(rank);
		if (!to->texts[2 * i] || !to->texts[2 * i + 1])
			break;
		to->files[i] = (struct gt_perfetto_file){ to->texts[2 * i], to->texts[2 * i + 1],
			rank->reader, false };
		if (i + 1 == n)
			return 0;
	}
	return gt_err_set(err, -ENOMEM, "out of memory (names of %zu ranks)", n);
}

/* ---- the archive ---- */

/* Adds a file whose bytes are in an open file, at any place of it. */
static int add_member(struct archive *to, const char *name, int fd, struct gt_err *err)
{
	off_t size = lseek(fd, 0, SEEK_END);

	if (size < 0 || lseek(fd, 0, SEEK_SET) < 0)
		return gt_err_set(err, -errno, "cannot read a temporary file: %s", strerror(errno));
	gt_tar_header(&to->out, name, (uint64_t)size, to->now);
	if (gt_out_add_file(&to->out, fd, err))
		return err->code;
	gt_tar_pad(&to->out, (uint64_t)size);
	return 0;
}

static int add_manifest(struct archive *to, struct gt_err *err)
{
	const size_t n = to->ranks.nread;
	char *text = gt_perfetto_manifest(to->files, n);

	if (!text)
		return gt_err_set(err, -ENOMEM, "out of memory (manifest of %zu ranks)", n);
	gt_tar_header(&to->out, GT_PERFETTO_MANIFEST, strlen(text), to->now);
	gt_out_str(&to->out, text);
	gt_tar_pad(&to->out, strlen(text));
	free(text);
	gt_progress_line_hide();
	for (size_t i = 0; i < n; i++)
		if (to->files[i].unplaced)
			gt_message(stderr, GT_EXPORT_TOOL,
				"%s: it has no clock in common with the other traces: it is placed as if all began at the same time",
				to->ranks.list[i].path);
	return 0;
}

/* The rank's file, in a temporary file. Returns its descriptor or a negative error. */
static int write_rank(struct archive *to, size_t i, struct gt_exported *e, struct gt_err *err)
{
	int fd = gt_temporary(err), copy = fd < 0 ? -1 : dup(fd);
	struct gt_out out;

	if (fd < 0)
		return err->code;
	if (copy < 0) {
		close(fd);
		return gt_err_set(err, -EMFILE, "no more descriptors");
	}
	if (gt_out_open_fd(&out, fd, "a temporary file", err)) {
		close(copy);
		return err->code;
	}
	e->opt.file_number = (uint32_t)i + 1;
	if (to->ranges) {
		e->opt.filter.ranged = true;
		e->opt.filter.ranges = &to->ranges[to->ranks.list[i].first];
	}
	gt_export_stream(to->args, to->exporter, e, &out, err);
	if (gt_out_close(&out, err->code ? NULL : err) && !err->code)
		gt_err_set(err, -EIO, "cannot write a temporary file");
	if (err->code) {
		close(copy);
		return err->code;
	}
	return copy;
}

/* Returns the exit status of this rank, or negative: the archive fails. */
static int add_rank(struct archive *to, size_t i, struct gt_err *err)
{
	const struct gt_rank *rank = &to->ranks.list[i];
	struct gt_exported e;
	int rc = gt_exported_init(&e, to->args, rank->path, rank->reader, err);
	int fd = rc ? -1 : write_rank(to, i, &e, err);

	if (!rc)
		rc = fd < 0 ? fd : add_member(to, to->files[i].name, fd, err);
	if (fd >= 0)
		close(fd);
	gt_exported_release(&e);
	if (rc) {
		gt_export_refuse(err, rank->path);
		return rc;
	}
	gt_progress_line_hide();
	return gt_export_print_losses(rank->path, rank->reader);
}

/* --from and --to, by recording. */
static int find_ranges(struct archive *to, struct gt_err *err)
{
	const struct gt_export_args *a = to->args;
	uint32_t n = gt_reader_segments(to->ranks.all);
	int64_t *bases;

	if (a->from == GT_EXPORT_NO_TIME && a->to == GT_EXPORT_NO_TIME)
		return 0;
	bases = gt_export_bases(to->ranks.all);
	to->ranges = calloc(n + 1ul, sizeof(*to->ranges));
	for (uint32_t i = 0; bases && to->ranges && i < n; i++)
		to->ranges[i] = (struct gt_range){ a->from == GT_EXPORT_NO_TIME
				? INT64_MIN
				: gt_export_time(bases[i], a->from),
			a->to == GT_EXPORT_NO_TIME ? INT64_MAX : gt_export_time(bases[i], a->to) };
	free(bases);
	return bases && to->ranges ? 0 : gt_err_set(err, -ENOMEM, "out of memory");
}

static int write_archive(struct archive *to, const char *output)
{
	struct gt_err err = GT_ERR_INIT;
	int status = 0, rc = 0;

	if (gt_out_open(&to->out, output, to->args->force, &err))
		return gt_export_refuse(&err, NULL);
	if (name_files(to, &err) || find_ranges(to, &err) || add_manifest(to, &err))
		gt_export_refuse(&err, NULL);
	for (size_t i = 0; !err.code && rc >= 0 && i < to->ranks.nread; i++) {
		rc = add_rank(to, i, &err);
		status |= rc;
	}
	if (!err.code)
		gt_tar_end(&to->out);
	return gt_export_close(&to->out, &err) ? 1 : status;
}

/* Opens all traces; prints which of them are missing in the archive. Returns the exit status; -1:
 * there is nothing to write. */
static int open_ranks(struct archive *to, char *const *traces, size_t n, const char *output)
{
	struct gt_err err = GT_ERR_INIT;
	int status = 0;

	for (size_t i = 0; i < n; i++)
		if (gt_out_would_destroy(output, traces[i], &err)) {
			gt_export_refuse(&err, NULL);
			return -1;
		}
	if (gt_ranks_open(&to->ranks, traces, n, OPENERS, &err)) {
		gt_export_refuse(&err, NULL);
		return -1;
	}
	gt_progress_line_hide();
	for (size_t i = to->ranks.nread; i < n; i++) {
		const struct gt_rank *rank = &to->ranks.list[i];

		if (rank->same)
			gt_message(stderr, GT_EXPORT_TOOL, "%s: left out: the same as %s",
				rank->path, rank->same);
		else
			status = gt_export_refuse(&to->ranks.list[i].err, rank->path);
	}
	if (to->ranks.nread > GT_PERFETTO_FILES_MAX) {
		gt_err_set(&err, -E2BIG, "more than %u ranks", GT_PERFETTO_FILES_MAX);
		gt_export_refuse(&err, NULL);
		return -1;
	}
	return to->ranks.nread ? status : -1;
}

int gt_export_ranks(const struct gt_export_args *a, const struct gt_exporter *x,
	char *const *traces, size_t n, const char *output)
{
	struct archive to = { .args = a, .exporter = x, .now = time(NULL) };
	char name[32];
	int status;

	snprintf(name, sizeof(name), "%zu files", n);
	gt_progress_line_start(name, gt_export_shows_progress(a, output));
	status = open_ranks(&to, traces, n, output);
	if (status >= 0)
		status |= write_archive(&to, output);
	gt_progress_line_stop();
	if (!status && !a->output && strcmp(output, "-"))
		gt_message(stderr, GT_EXPORT_TOOL, "wrote %s", output);
	for (size_t i = 0; to.texts && i < 2 * to.ranks.nread; i++)
		free(to.texts[i]);
	free(to.texts);
	free(to.files);
	free(to.ranges);
	gt_ranks_release(&to.ranks);
	return status < 0 ? 1 : status;
}
