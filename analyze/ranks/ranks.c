/* Reads several files as ranks of one run.
 *
 * A program on many GPUs often has one process and one file per GPU, on several machines. A
 * joined reader presents all recordings as those of one file, so every report that supports
 * several recordings supports ranks. Reports never compare times of different clocks.
 *
 * The name of a rank is the number in its recording (environment variables of launchers, or a
 * value that PyTorch's profiler wrote), if each file has one and all differ. Otherwise it is the
 * file name; if file names are equal, the folders that differ.
 *
 * The same recording given twice would count twice, and look like two equal ranks. One of them
 * is left out, with a note. */
#define _GNU_SOURCE /* vasprintf */
#include "analyze/ranks/ranks.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "formats/base/buf.h"
#include "formats/base/sorted.h"
#include "formats/import/importers.h"
#include "formats/os/file.h"
#include "formats/trace/meta.h"

#define OPENERS 4u /* files opened at the same time: an import needs about 100 MiB */

/* ---- opening ---- */

struct opening {
	struct gt_rank *list;
	size_t n;
	atomic_size_t next;
};

static void *open_some(void *arg)
{
	struct opening *o = arg;
	size_t i;

	while ((i = atomic_fetch_add(&o->next, 1)) < o->n)
		if (!o->list[i].same)
			o->list[i].reader = gt_open_any(o->list[i].path, &o->list[i].err);
	return NULL;
}

static void open_all(struct gt_ranks *ranks, unsigned threads)
{
	struct opening o = { .list = ranks->list, .n = ranks->n };
	pthread_t others[OPENERS];
	unsigned started = 0;

	while (started + 1 < OPENERS && started + 1 < threads &&
		!pthread_create(&others[started], NULL, open_some, &o))
		started++;
	open_some(&o);
	while (started)
		pthread_join(others[--started], NULL);
}

static bool same_bytes(const char *a, const char *b)
{
	static const size_t most = 65536;
	char *x = malloc(2 * most), *y = x ? x + most : NULL;
	FILE *f = fopen(a, "re"), *g = fopen(b, "re");
	bool same = x && f && g;
	size_t n = most;

	while (same && n == most) {
		n = fread(x, 1, most, f);
		same = fread(y, 1, most, g) == n && !memcmp(x, y, n) && !ferror(f) && !ferror(g);
	}
	if (f)
		fclose(f);
	if (g)
		fclose(g);
	free(x);
	return same;
}

static bool one_file(const struct gt_rank *a, const struct gt_rank *b, const struct stat *x,
	const struct stat *y)
{
	if (!S_ISREG(x->st_mode) || !S_ISREG(y->st_mode) || !strcmp(a->path, "-") ||
		!strcmp(b->path, "-"))
		return !strcmp(a->path, b->path);
	if (x->st_dev == y->st_dev && x->st_ino == y->st_ino)
		return true;
	return x->st_size == y->st_size && x->st_size && same_bytes(a->path, b->path);
}

static int find_same_files(struct gt_ranks *ranks)
{
	struct stat *stats = calloc(ranks->n + 1, sizeof(*stats));

	if (!stats)
		return -ENOMEM;
	for (size_t i = 0; i < ranks->n; i++)
		if (stat(ranks->list[i].path, &stats[i]))
			memset(&stats[i], 0, sizeof(stats[i]));
	for (size_t i = 1; i < ranks->n; i++)
		for (size_t k = 0; k < i && !ranks->list[i].same; k++)
			if (!ranks->list[k].same &&
				one_file(&ranks->list[i], &ranks->list[k], &stats[i], &stats[k]))
				ranks->list[i].same = ranks->list[k].path;
	free(stats);
	return 0;
}

/* Copies have the recording ids of the original, also if a copy is truncated. */
static bool same_recordings(const struct gt_reader *a, const struct gt_reader *b)
{
	uint32_t n = gt_reader_segments(a);

	if (!n || n != gt_reader_segments(b))
		return false;
	for (uint32_t i = 0; i < n; i++)
		if (gt_reader_segment(a, i)->id != gt_reader_segment(b, i)->id)
			return false;
	return true;
}

static uint64_t rows_of(const struct gt_reader *r)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < gt_reader_segments(r); i++)
		for (unsigned k = 0; k < GT_KINDS; k++)
			n += gt_reader_segment(r, i)->rows[k];
	return n;
}

/* Of two copies of a recording, keeps the one with more rows. */
static void find_copies(struct gt_ranks *ranks)
{
	for (size_t i = 1; i < ranks->n; i++)
		for (size_t k = 0; k < i && ranks->list[i].reader; k++) {
			struct gt_rank *a = &ranks->list[k], *b = &ranks->list[i];

			if (!a->reader || !same_recordings(a->reader, b->reader))
				continue;
			if (rows_of(b->reader) > rows_of(a->reader)) {
				a = b;
				b = &ranks->list[k];
			}
			b->same = a->path;
			gt_reader_close(b->reader);
			b->reader = NULL;
		}
}

/* ---- names of ranks ---- */

/* The caller frees the result. NULL: no memory. */
static __attribute__((format(printf, 1, 2))) char *text_of(const char *fmt, ...)
{
	char *text = NULL;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	return n < 0 ? NULL : text;
}

struct rank_number {
	size_t best;
	long long number;
};

/* Takes the first of these keys that exists. Local ranks are not used: they repeat on each
 * machine. */
static int note_number(void *arg, const char *key, const char *value)
{
	static const char *const keys[] = { "rank", "kineto.distributedInfo.rank",
		"environment.RANK", "environment.OMPI_COMM_WORLD_RANK", "environment.PMI_RANK",
		"environment.SLURM_PROCID" };
	struct rank_number *t = arg;
	char *end;

	for (size_t i = 0; i < t->best; i++)
		if (i < sizeof(keys) / sizeof(*keys) && !strcmp(key, keys[i])) {
			long long n = strtoll(value, &end, 10);

			if (end == value || *end || n < 0)
				continue;
			*t = (struct rank_number){ i, n };
		}
	return 0;
}

static int find_number(struct gt_rank *rank)
{
	struct rank_number t = { 1000, -1 };
	int rc = rank->reader && gt_reader_segments(rank->reader)
		? gt_meta_each(gt_reader_segment(rank->reader, 0), note_number, &t)
		: 0;

	rank->number = t.number;
	return rc;
}

static bool all_numbered(const struct gt_ranks *ranks)
{
	for (size_t i = 0; i < ranks->nread; i++) {
		if (ranks->list[i].number < 0)
			return false;
		for (size_t k = 0; k < i; k++)
			if (ranks->list[k].number == ranks->list[i].number)
				return false;
	}
	return ranks->nread;
}

static int by_number(const void *pa, const void *pb)
{
	const struct gt_rank *a = pa, *b = pb;

	return GT_COMPARE(a->number, b->number);
}

/* Moves the files that are read to the front; their order stays. */
static int gather(struct gt_ranks *ranks)
{
	struct gt_rank *sorted = calloc(ranks->n + 1, sizeof(*sorted));
	size_t n = 0;

	if (!sorted)
		return -ENOMEM;
	for (size_t i = 0; i < ranks->n; i++)
		if (ranks->list[i].reader)
			sorted[n++] = ranks->list[i];
	ranks->nread = n;
	for (size_t i = 0; i < ranks->n; i++)
		if (!ranks->list[i].reader)
			sorted[n++] = ranks->list[i];
	free(ranks->list);
	ranks->list = sorted;
	return 0;
}

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Are the file names unique without their folders? 1, 0, or -ENOMEM. */
static int names_differ(const struct gt_ranks *ranks)
{
	const char **names = calloc(ranks->nread + 1, sizeof(*names));
	int differ = 1;

	for (size_t i = 0; names && i < ranks->nread; i++)
		names[i] = base_of(ranks->list[i].path);
	if (names)
		GT_SORT(names, ranks->nread, by_text);
	for (size_t i = 1; names && i < ranks->nread; i++)
		differ &= strcmp(names[i - 1], names[i]) != 0;
	free(names);
	return names ? differ : -ENOMEM;
}

/* Finds the common parts of all paths: on the left whole folders; on the right the file name if
 * it is the same everywhere ("rank0/trace.zst", "rank1/trace.zst"). */
static void common_parts(const struct gt_ranks *ranks, size_t *left, size_t *right)
{
	const char *first = ranks->list[0].path, *base = base_of(first);

	*left = strlen(first);
	*right = base > first ? strlen(base) + 1 : 0;
	for (size_t i = 1; i < ranks->nread; i++) {
		const char *path = ranks->list[i].path;
		size_t k = 0;

		while (k < *left && path[k] == first[k])
			k++;
		*left = k;
		*right = strcmp(base_of(path), base) || base_of(path) == path ? 0 : *right;
	}
	while (*left && first[*left - 1] != '/')
		--*left;
}

static int label_by_path(struct gt_ranks *ranks)
{
	int differ = names_differ(ranks);
	size_t left = 0, right = 0;

	if (!differ)
		common_parts(ranks, &left, &right);
	for (size_t i = 0; differ >= 0 && i < ranks->nread; i++) {
		struct gt_rank *r = &ranks->list[i];
		const char *from = differ ? base_of(r->path) : r->path + left;
		size_t len = strlen(from);

		if (!(r->label = text_of("%.*s", (int)(len > right ? len - right : len), from)))
			return -ENOMEM;
	}
	return differ < 0 ? differ : 0;
}

static int label_by_number(struct gt_ranks *ranks)
{
	GT_SORT(ranks->list, ranks->nread, by_number);
	for (size_t i = 0; i < ranks->nread; i++)
		if (!(ranks->list[i].label = text_of("%lld", ranks->list[i].number)))
			return -ENOMEM;
	return 0;
}

static int name_ranks(struct gt_ranks *ranks)
{
	int rc;

	ranks->numbered = all_numbered(ranks);
	rc = ranks->numbered ? label_by_number(ranks) : label_by_path(ranks);
	for (size_t i = 0; !rc && i < ranks->nread; i++)
		if (!(ranks->list[i].called = text_of(
			      "%s%s", ranks->numbered ? "rank " : "", ranks->list[i].label)))
			rc = -ENOMEM;
	return rc;
}

/* ---- recordings ---- */

/* "3 (1)": the second recording of rank 3. Owned by ranks. */
static const char *numbered_text(struct gt_ranks *ranks, const char *of, uint32_t nth)
{
	char *text;

	if (gt_grow(&ranks->texts, &ranks->texts_cap, ranks->ntexts + 1, sizeof(*ranks->texts)) ||
		!(text = text_of("%s (%u)", of, nth)))
		return NULL;
	return ranks->texts[ranks->ntexts++] = text;
}

static int name_recordings(struct gt_ranks *ranks)
{
	uint32_t n = gt_reader_segments(ranks->all), at = 0;

	ranks->names = calloc(n + 1ul, sizeof(*ranks->names));
	ranks->labels = calloc(n + 1ul, sizeof(*ranks->labels));
	if (!ranks->names || !ranks->labels)
		return -ENOMEM;
	for (size_t i = 0; i < ranks->nread; i++) {
		struct gt_rank *r = &ranks->list[i];
		uint32_t several = gt_reader_segments(r->reader);

		r->first = at;
		for (uint32_t k = 0; k < several; k++, at++) {
			ranks->names[at] = (struct gt_rank_name){ r->path,
				k ? numbered_text(ranks, r->label, k) : r->label,
				k ? numbered_text(ranks, r->called, k) : r->called };
			ranks->labels[at] = ranks->names[at].label;
			if (!ranks->names[at].label || !ranks->names[at].called)
				return -ENOMEM;
		}
	}
	return 0;
}

static int join(struct gt_ranks *ranks, struct gt_err *err)
{
	struct gt_reader **readers = calloc(ranks->nread + 1, sizeof(struct gt_reader *));

	for (size_t i = 0; readers && i < ranks->nread; i++)
		readers[i] = ranks->list[i].reader;
	ranks->all = readers ? gt_reader_join(readers, ranks->nread, err) : NULL;
	free(readers);
	return ranks->all ? name_recordings(ranks) : -ENOMEM;
}

int gt_ranks_open(
	struct gt_ranks *ranks, char *const *paths, size_t n, unsigned threads, struct gt_err *err)
{
	int rc = 0;

	*ranks = (struct gt_ranks){ .list = calloc(n + 1, sizeof(*ranks->list)), .n = n };
	if (!ranks->list)
		return gt_err_set(err, -ENOMEM, "out of memory (%zu files)", n);
	for (size_t i = 0; i < n; i++)
		ranks->list[i] =
			(struct gt_rank){ .path = paths[i], .err = GT_ERR_INIT, .number = -1 };
	gt_permit_many_files(); /* each file remains open */
	rc = find_same_files(ranks);
	if (!rc) {
		open_all(ranks, threads);
		find_copies(ranks);
	}
	for (size_t i = 0; !rc && i < n; i++)
		rc = find_number(&ranks->list[i]);
	if (!rc)
		rc = gather(ranks);
	if (!rc)
		rc = name_ranks(ranks);
	if (!rc && ranks->nread)
		rc = join(ranks, err);
	return rc ? gt_err_set(err, -ENOMEM, "out of memory (%zu files)", n) : 0;
}

void gt_ranks_release(struct gt_ranks *ranks)
{
	gt_reader_close(ranks->all);
	for (size_t i = 0; ranks->list && i < ranks->n; i++) {
		gt_reader_close(ranks->list[i].reader);
		free(ranks->list[i].label);
		free(ranks->list[i].called);
	}
	while (ranks->ntexts)
		free(ranks->texts[--ranks->ntexts]);
	free(ranks->texts);
	free(ranks->names);
	free(ranks->labels);
	free(ranks->list);
}
