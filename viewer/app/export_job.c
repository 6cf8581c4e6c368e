/* The child process reads with a copy of the viewer's reader. It counts the exported rows in a
 * shared page. */
#include "viewer/app/export_job.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "viewer/util/number_text.h"
#include "formats/os/atomic_file.h"
#include "viewer/util/subprocess.h"

#define NAME_SHOWN 30u           /* length limit of a file name in a message, bytes */
#define UNFINISHED ".gt-export-" /* prefix of the names of unfinished files */

struct gt_export_job {
	struct gt_export_request order;
	struct gt_reader *reader; /* only the child process uses it */
	struct gt_export_options options;
	struct gt_range *ranges;
	char cut[120];
	int folder; /* folder of the file; `name` is its name there */
	char name[NAME_MAX + 1];
	struct gt_atomic_file file;
	struct gt_subprocess worker;
	_Atomic uint64_t *rows_done; /* in shared memory */
	uint64_t rows;               /* estimated number */
};
struct outcome {
	struct gt_err err;
	bool damaged;
};
_Static_assert(sizeof(struct outcome) <= GT_SUBPROCESS_RESULT, "fits into a result");

/* ---- in the process of its own ---- */

/* Does the range contain damage? */
static bool is_damaged(const struct gt_export_job *e)
{
	size_t n;
	const struct gt_damage *d = gt_reader_damage(e->reader, &n);
	bool damaged = false;

	for (size_t i = 0; i < n && !damaged; i++) {
		struct gt_range r = { INT64_MIN, INT64_MAX };

		if (d[i].segment < gt_reader_segments(e->reader))
			r = gt_range_of(
				&e->options.filter, gt_reader_segment(e->reader, d[i].segment));
		damaged = d[i].min_start < r.to && d[i].max_end >= r.from;
	}
	return damaged;
}

static void work(void *arg, void *result)
{
	struct gt_export_job *e = arg;
	struct outcome *o = result;
	struct gt_err out_err = GT_ERR_INIT;
	struct gt_out out;
	int rc;

	o->err = (struct gt_err)GT_ERR_INIT;
	rc = gt_out_open_fd(&out, dup(e->file.fd), e->order.file, &o->err);
	if (rc)
		return;
	rc = e->order.as->export(e->reader, &e->options, &out, &o->err);
	if (gt_out_close(&out, &out_err))
		/* an error of the disk is more precise than that of the exporter */
		o->err = out_err;
	else if (rc)
		gt_err_set(&o->err, rc, "cannot be exported: %s", strerror(-rc));
	o->damaged = is_damaged(e);
}

/* ---- the file ---- */

/* The end of a long name, which is more specific than its beginning. */
static const char *end_of(const char *file)
{
	size_t n = strlen(file);

	if (n <= NAME_SHOWN)
		return file;
	file += n - NAME_SHOWN;
	while ((*file & 0xc0) == 0x80) /* inside a character */
		file++;
	return file;
}

static int refuse(const char *file, int rc, struct gt_err *err)
{
	const char *end = end_of(file), *cut = end > file ? "..." : "";

	if (rc == -EEXIST)
		return gt_err_set(err, rc, "%s%s exists: export! replaces it", cut, end);
	return gt_err_set(err, rc, "cannot write %s%s: %s", cut, end, strerror(-rc));
}

static int begin_file(struct gt_export_job *e, struct gt_err *err)
{
	mode_t mode;
	int rc = gt_atomic_file_place(e->order.file, e->order.replace, &e->folder, e->name, &mode);

	if (rc == -EINVAL)
		return gt_err_set(err, rc, "%.60s is not a regular file", e->order.file);
	if (rc)
		return refuse(e->order.file, rc, err);
	rc = gt_atomic_file_create(&e->file, e->folder, UNFINISHED, 0666);
	if (!rc && mode && fchmod(e->file.fd, mode))
		rc = -errno;
	return rc ? refuse(e->order.file, rc, err) : 0;
}

/* ---- begin and end ---- */

static int count_rows(void *arg, const struct gt_block_info *f)
{
	struct gt_export_job *e = arg;
	struct gt_range range =
		gt_range_of(&e->options.filter, gt_reader_segment(e->reader, f->segment));

	if (f->kind && f->start < range.to && f->end >= range.from)
		e->rows += f->rows;
	return 0;
}

static int set_range(struct gt_export_job *e, const struct gt_scene *s, struct gt_err *err)
{
	struct gt_range r = e->order.range;

	if (gt_archive_limit(s->archive, r, &e->options.filter, &e->ranges, err))
		return err->code;
	if (e->ranges) {
		snprintf(e->cut, sizeof(e->cut),
			"{\"cut\":{\"from_ns\":%" PRId64 ",\"to_ns\":%" PRId64 "}}",
			r.from - s->extent.from, r.to - s->extent.from);
		e->options.cut = e->cut;
	}
	return gt_each_block(e->reader, count_rows, e, err);
}

static int begin(struct gt_export_job *e, struct gt_scene *s, struct gt_err *err)
{
	void *shared = mmap(NULL, sizeof(*e->rows_done), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int rc = shared == MAP_FAILED ? gt_err_set(err, -ENOMEM, "out of memory")
				      : set_range(e, s, err);

	e->rows_done = e->options.rows_done = shared == MAP_FAILED ? NULL : shared;
	if (!rc)
		rc = gt_out_would_destroy(e->order.file, s->name, err);
	if (!rc)
		rc = begin_file(e, err);
	return rc ? rc : gt_subprocess_begin(&e->worker, work, e, sizeof(struct outcome), err);
}

struct gt_export_job *gt_export_job_new(
	struct gt_scene *s, const struct gt_export_request *what, struct gt_err *err)
{
	struct gt_export_job *e = calloc(1, sizeof(*e));

	if (!e) {
		gt_err_set(err, -ENOMEM, "out of memory");
		return NULL;
	}
	*e = (struct gt_export_job){
		.order = *what, .reader = s->reader, .folder = -1, .file.fd = -1
	};
	if (!begin(e, s, err))
		return e;
	gt_export_job_free(e);
	return NULL;
}

void gt_export_job_free(struct gt_export_job *e)
{
	if (!e)
		return;
	gt_subprocess_cancel(&e->worker);
	gt_atomic_file_close(&e->file, e->folder);
	if (e->folder >= 0)
		close(e->folder);
	if (e->rows_done)
		munmap((void *)e->rows_done, sizeof(*e->rows_done));
	free(e->ranges);
	free(e);
}

/* Gives the file its name; the result mentions damage. */
static int commit_file(struct gt_export_job *e, const struct outcome *o, char *result, size_t room)
{
	struct gt_err err = GT_ERR_INIT;
	struct stat st;
	int rc;

	if (fstat(e->file.fd, &st))
		st.st_size = 0;
	rc = gt_atomic_file_commit(&e->file, e->folder, UNFINISHED, e->name, e->order.replace);
	if (rc)
		refuse(e->order.file, rc, &err);
	if (rc)
		snprintf(result, room, "%s", err.text);
	else
		snprintf(result, room, "wrote %s to %.100s%s",
			gt_number_text(GT_C_BYTES, (uint64_t)st.st_size).text, e->order.file,
			o->damaged ? ", without the damaged parts of the trace" : "");
	return 0;
}

int gt_export_job_step(struct gt_export_job *e, uint64_t us, char *result, size_t room)
{
	struct gt_err err = GT_ERR_INIT;
	struct outcome o;
	int rc;

	do
		rc = gt_subprocess_step(
			&e->worker, us ? (unsigned)((us + 999) / 1000) : 1000, &o, &err);
	while (rc > 0 && !us);
	if (rc > 0)
		return 1;
	if (!rc && !o.err.code)
		return commit_file(e, &o, result, room);
	snprintf(result, room, "no file was written: %.160s", rc ? err.text : o.err.text);
	return 0;
}

unsigned gt_export_job_percent(const struct gt_export_job *e)
{
	uint64_t n = atomic_load_explicit(e->rows_done, memory_order_relaxed);

	return !e->rows || n >= e->rows ? 99 : (unsigned)(n * 100 / e->rows);
}
