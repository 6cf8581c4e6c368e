#include "viewer/app/index_job.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "formats/export/exporters.h"
#include "formats/import/importers.h"
#include "formats/io/json_build.h"
#include "formats/names/name_patterns.h"
#include "formats/os/file.h"
#include "formats/trace/meta.h"

/* ---- in the child process ---- */

/* new: the copy's metadata. The number of recordings is stored as well: a file that lost its last
 * recordings is still closed. NULL: no memory. */
static char *describe(const struct gt_index_job *x, uint32_t segments)
{
	json_t *meta = json_object(), *o = json_object(), *globs = json_array();

	for (size_t i = 0; x->exclude && i < x->exclude->n; i++)
		json_array_append_new(
			globs, gt_json_text(x->exclude->items[i], strlen(x->exclude->items[i])));
	json_object_set_new(o, "as", json_string(x->id));
	json_object_set_new(o, "recordings", json_integer(segments));
	json_object_set_new(o, "exclude", globs);
	json_object_set_new(meta, "indexed", o);
	return gt_json_finish(meta);
}

static void get_damage(struct gt_reader *r, struct gt_index_result *result)
{
	const struct gt_damage *d = gt_reader_damage(r, &result->damage);

	if (!result->damage)
		return;
	result->damage_at = d[0].offset;
	snprintf(result->damage_text, sizeof(result->damage_text), "%s", d[0].text);
}

static int copy_trace(
	struct gt_reader *r, const struct gt_index_job *x, struct gt_index_result *result)
{
	struct gt_export_options opt = { .filter = { .kinds = 0 } };
	struct gt_name_patterns names;
	char *meta = describe(x, gt_reader_segments(r));
	int rc = gt_name_patterns_init(&names, NULL, x->exclude, r, &result->err);

	if (!meta)
		rc = -ENOMEM;
	opt.cut = meta;
	gt_name_patterns_set(&names, &opt.filter);
	if (!rc)
		rc = gt_export_copy(r, &opt, x->to, &result->err);
	gt_name_patterns_release(&names);
	free(meta);
	get_damage(r, result);
	return rc;
}

/* If names are excluded, the imported trace is copied once more, without them. */
static int import(const struct gt_index_job *x, struct gt_index_result *result, struct gt_err *err)
{
	int to = x->exclude ? gt_temporary(err) : x->to, rc = to < 0 ? err->code : 0;
	char *meta = describe(x, 1);
	struct gt_reader *r = NULL;

	if (!rc)
		rc = meta ? gt_import(fcntl(x->from, F_DUPFD_CLOEXEC, 0), to, meta, err) : -ENOMEM;
	if (!rc && x->exclude) {
		r = gt_reader_open_fd(fcntl(to, F_DUPFD_CLOEXEC, 0), err);
		rc = r ? copy_trace(r, x, result) : err->code;
	}
	gt_reader_close(r);
	if (x->exclude && to >= 0)
		close(to);
	free(meta);
	return rc;
}

/* Tries gt's format first if the file begins like it. A file that no importer knows may be a trace
 * in gt's format with a damaged beginning. */
static int convert(const struct gt_index_job *x, struct gt_index_result *result)
{
	struct gt_err theirs = GT_ERR_INIT, *err = &result->err;
	bool ours = gt_may_be_native(x->from);
	struct gt_reader *r;
	int rc;

	if (!ours && (rc = import(x, result, &theirs)) != -EILSEQ) {
		if (theirs.code)
			*err = theirs;
		return rc;
	}
	r = gt_reader_open_fd(fcntl(x->from, F_DUPFD_CLOEXEC, 0), err);
	if (!r && !ours && (err->code == -ESPIPE || err->code == -EISDIR))
		*err = theirs;
	if (!r)
		return err->code;
	rc = copy_trace(r, x, result);
	gt_reader_close(r);
	return rc;
}

static void work(void *arg, void *to)
{
	const struct gt_index_job *x = arg;
	struct gt_index_result *result = to;
	int rc;

	result->err = (struct gt_err)GT_ERR_INIT;
	rc = convert(x, result);
	if (!rc && fsync(x->to))
		rc = gt_err_set(&result->err, -errno, "cannot write: %s", strerror(errno));
	if (rc)
		gt_err_set(&result->err, rc, "cannot be indexed: %s", strerror(-rc));
}

/* ---- in the viewer ---- */

_Static_assert(sizeof(struct gt_index_result) <= GT_SUBPROCESS_RESULT, "fits into a result");

int gt_index_job_begin(struct gt_index_job *x, int from, int to, const char *id,
	const struct gt_opt_list *exclude, struct gt_err *err)
{
	struct stat st;

	*x = (struct gt_index_job){ .from = from,
		.to = to,
		.id = id,
		.exclude = exclude,
		.copying = gt_may_be_native(from) };
	if (!fstat(from, &st) && S_ISREG(st.st_mode))
		x->bytes = (uint64_t)st.st_size;
	return gt_subprocess_begin(&x->worker, work, x, sizeof(struct gt_index_result), err);
}

int gt_index_job_step(struct gt_index_job *x, unsigned ms, struct gt_index_result *result)
{
	struct gt_err err = GT_ERR_INIT;
	int rc = gt_subprocess_step(&x->worker, ms, result, &err);

	if (rc < 0)
		*result = (struct gt_index_result){ .err = err };
	return rc > 0;
}

void gt_index_job_cancel(struct gt_index_job *x) { gt_subprocess_cancel(&x->worker); }

/* An import shares its file offset with the viewer. For a copy, the size of the copy so far is
 * about the number of bytes read. */
uint64_t gt_index_job_done(const struct gt_index_job *x)
{
	off_t at = x->copying || !x->bytes ? -1 : lseek(x->from, 0, SEEK_CUR);
	struct stat st;

	if (at < 0)
		at = fstat(x->to, &st) ? 0 : st.st_size;
	return x->bytes && (uint64_t)at > x->bytes ? x->bytes : (uint64_t)at;
}

struct copy_check {
	const char *id;
	uint32_t segments;
	bool id_found, all;
};

static int check_meta(void *arg, const char *key, const char *value)
{
	struct copy_check *w = arg;

	if (!strcmp(key, "indexed.as"))
		w->id_found = !strcmp(value, w->id);
	else if (!strcmp(key, "indexed.recordings"))
		w->all = strtoul(value, NULL, 10) == w->segments;
	return 0;
}

bool gt_index_is_copy(struct gt_reader *r, const char *id)
{
	uint32_t n = gt_reader_segments(r);
	size_t damage;

	gt_reader_damage(r, &damage);
	for (uint32_t i = 0; i < n; i++) {
		const struct gt_segment *seg = gt_reader_segment(r, i);
		struct copy_check w = { .id = id, .segments = n };

		if (!seg->closed || gt_meta_each(seg, check_meta, &w) || !w.id_found || !w.all)
			return false;
	}
	return n && !damage;
}
