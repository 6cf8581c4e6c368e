/* Several files as the ranks of one run. Their common figures are compared with the figures of
 * one file that contains all recordings, with a naive merge of the figures of each file, and
 * with the figures of the program that was split over the files. */
#define _GNU_SOURCE
#include "analyze/cli/time_range_option.h"
#include "analyze/ranks/ranks.h"
#include "tests/unit/random_program.h"
#include "tests/unit/reports.h"

#define RANKS 3
#define SEEDS T_INPUTS(40u)

static const struct gt_analysis_options ranged = {
	.top = 0, .file = "trace", .filter = { .ranged = true, .from = 700, .to = 5000 }
};

static struct gt_reader *reader_of(int fd)
{
	struct gt_err err = GT_ERR_INIT;
	struct gt_reader *r = gt_reader_open_fd(fd, &err);

	if (!r)
		gt_err_print("test", NULL, &err);
	return r;
}

/* A file descriptor with the data of a reader, so that other readers can read the data again. */
static int file_of(struct gt_reader *(*make)(struct rp *, unsigned), struct rp *p, unsigned seed)
{
	struct gt_reader *r = make(p, seed);
	int fd = r ? dup(p->g.fd) : -1;

	gt_reader_close(r);
	return fd;
}

static void add_bytes(int to, int from)
{
	char bytes[4096];
	off_t at = 0;
	ssize_t n;

	while ((n = pread(from, bytes, sizeof(bytes), at)) > 0) {
		CHECK(write(to, bytes, (size_t)n) == n);
		at += n;
	}
}

/* The report over all readers as one run; closes the readers. */
static char *joined_text(const int *fds, size_t n, const char *const *names,
	const struct gt_analysis_options *o, unsigned threads)
{
	struct gt_reader *readers[RANKS] = { NULL }, *all;
	struct gt_err err = GT_ERR_INIT;
	char *text;

	for (size_t i = 0; i < n; i++)
		readers[i] = reader_of(dup(fds[i]));
	all = gt_reader_join(readers, n, &err);
	text = all ? report_text(all, names, o, threads, GT_JSON) : NULL;
	for (size_t i = 0; i < n; i++)
		gt_reader_close(readers[i]);
	return text;
}

static json_t *joined(const int *fds, size_t n, const struct gt_analysis_options *o)
{
	char *text = joined_text(fds, n, NULL, o, 2);
	json_t *json = text ? json_loads(text, JSON_REJECT_DUPLICATES, NULL) : NULL;

	free(text);
	return json;
}

/* ---- as in one file ---- */

static void as_in_one_file(void)
{
	struct rp *p = malloc(sizeof(*p));

	for (unsigned seed = 1; seed <= SEEDS; seed++) {
		const struct gt_analysis_options *o = seed % 2 ? &plain : &ranged;
		int one = memfd_create("one", 0), fds[RANKS];
		char *a, *b;

		for (unsigned i = 0; i < RANKS; i++) {
			fds[i] = file_of(rp_make, p, seed * 7 + i);
			add_bytes(one, fds[i]);
		}
		a = report_text(reader_of(one), NULL, o, 1, GT_JSON);
		b = joined_text(fds, RANKS, NULL, o, 1 + seed % 3);
		CHECK(a && b && !strcmp(a, b));
		free(a);
		free(b);
		for (unsigned i = 0; i < RANKS; i++)
			close(fds[i]);
	}
	free(p);
}

/* ---- a naive merge ---- */

/* How the figures of the files are merged: rows with the same keys become one. If keys is NULL,
 * each row belongs to one file. */
static const struct merging {
	const char *table, *keys, *sums, *least, *most;
} mergings[] = {
	{ "userspace", "",
		"api_calls kernel_launches allocations allocated_bytes transfers transferred_bytes",
		"", "" },
	{ "kernel_space", "", "ioctl_calls ioctl_time_ns", "", "" },
	{ "top", "operation category", "count failed total_ns", "", "max_ns" },
	{ "ioctls", "operation category", "count failed total_ns", "", "max_ns" },
	{ "categories", "category", "count outermost time_ns nested_ns", "", "" },
	{ "layers", "layer", "count open instants failed time_ns", "", "max_ns" },
	{ "kernels", "name", "count total_ns queued busy_ns joined joined_by_order", "min_ns",
		"max_ns" },
	{ "copies", "operation direction source destination",
		"count bytes total_ns busy_ns exposed_ns hidden_ns", "min_bytes", "max_bytes" },
	{ "memory", "kind",
		"allocations failed frees unknown_frees allocated_bytes freed_bytes peak_bytes live_bytes live_count null_frees",
		"", "" },
	{ "budget", "key", "total_ns", "", "" },
	{ "exposed", "name kind", "count total_ns exposed_ns", "", "" },
	{ "gaps", "key what", "gaps total_ns", "", "max_ns" },
	{ "driver", "", "calls total_ns driver_ns ioctls outside_ioctls outside_ns", "", "" },
	{ "driver_calls", "call category", "count total_ns driver_ns rest_ns ioctls entered", "",
		"max_driver_ns" },
	{ "launch_times", "name", "launches call_ns short queue_ns queued gpu_ns all_ns", "", "" },
	{ "cuda_api_sum", "name", "total_ns num_calls", "min_ns", "max_ns" },
	{ "cuda_gpu_kern_sum", "name", "total_ns instances", "min_ns", "max_ns" },
	{ "cuda_gpu_mem_size_sum", "operation", "total_bytes count", "min_bytes", "max_bytes" },
	{ "cuda_gpu_sum", "operation category", "total_ns instances", "min_ns", "max_ns" },
	{ "budget_gpus", NULL, "window_ns compute_ns communication_ns copies_ns idle_ns cause_ns",
		"", "" },
	{ "gpu", NULL, "kernels copies sets busy_ns", "", "" },
	{ "sync", NULL,
		"count total_ns gpu_busy_ns gpu_idle_ns needless needless_ns untold open wait_ns",
		"", "" },
	{ "streams", NULL, "kernels copies sets busy_ns", "", "" },
	{ "threads", NULL, "calls open busy_ns", "", "" },
	{ "unqueued", NULL, "window_ns idle_ns unqueued_ns late_ns launched_ns unknown_ns", "",
		"" },
	{ "queues", NULL, "launches blocked_ns waiting_ns window_ns", "", "" },
	{ "critical", NULL, "on_path_ns pieces", "", "" },
	{ "steps", NULL, "steps", "", "" },
};

static bool same_keys(const json_t *a, const json_t *b, const char *keys)
{
	char key[40];

	for (int n; sscanf(keys, "%39s%n", key, &n) == 1; keys += n)
		if (!json_equal(json_object_get(a, key), json_object_get(b, key)))
			return false;
	return true;
}

/* The figure over all rows of these keys in all files; INT64_MIN: no file has one. how: 's' sum,
 * 'm' maximum, 'l' minimum. */
static json_int_t merged(json_t *const *files, size_t n, const struct merging *m,
	const json_t *like, const char *key, char how)
{
	json_int_t all = INT64_MIN;

	for (size_t f = 0; f < n; f++)
		for (size_t i = 0; i < rows(files[f], m->table); i++) {
			const json_t *r = row(files[f], m->table, i), *v = json_object_get(r, key);
			json_int_t one = json_integer_value(v);

			if (!json_is_integer(v) || !same_keys(r, like, m->keys))
				continue;
			if (all == INT64_MIN)
				all = one;
			else
				all = how == 's'     ? all + one
					: how == 'm' ? (one > all ? one : all)
						     : (one < all ? one : all);
		}
	return all;
}

static bool agree(json_t *const *files, size_t n, const json_t *all, const struct merging *m,
	const json_t *like, const char *list, char how)
{
	char key[40];
	bool ok = true;

	for (int k; sscanf(list, "%39s%n", key, &k) == 1; list += k) {
		const json_t *v = json_object_get(like, key);
		json_int_t want = merged(files, n, m, like, key, how),
			   have = json_is_integer(v) ? json_integer_value(v) : INT64_MIN;

		ok &= want == have;
		if (want != have)
			printf("# %s.%s: %lld, not %lld\n", m->table, key, (long long)have,
				(long long)want);
	}
	return ok;
}

static bool same_cell(const json_t *a, const json_t *b, const char *key)
{
	const json_t *x = json_object_get(a, key), *y = json_object_get(b, key);

	return x == y || json_equal(x, y); /* neither has it, or both */
}

/* The row of file f: its rank, its text cells, and its figures. */
static bool same_row(const json_t *have, size_t f, const json_t *want, const char *figures)
{
	static const char *const whose[] = { "pid", "tid", "device", "stream" };
	bool same = num(have, "recording") == (double)f;
	const char *key;
	const json_t *v;
	char figure[40];

	json_object_foreach((json_t *)want, key, v) same &=
		!json_is_string(v) || same_cell(have, want, key);
	for (size_t i = 0; i < sizeof(whose) / sizeof(*whose); i++)
		same &= same_cell(have, want, whose[i]);
	for (int n; same && sscanf(figures, "%39s%n", figure, &n) == 1; figures += n)
		same &= same_cell(have, want, figure);
	return same;
}

/* Rows that belong to one file: all are present, with the file's number. */
static bool same_rows(json_t *const *files, size_t n, const json_t *all, const struct merging *m)
{
	size_t expected = 0, found = 0;

	for (size_t f = 0; f < n; f++)
		for (size_t i = 0; i < rows(files[f], m->table); i++) {
			size_t k = 0;

			while (k < rows(all, m->table) &&
				!same_row(row(all, m->table, k), f, row(files[f], m->table, i),
					m->sums))
				k++;
			found += k < rows(all, m->table);
			expected++;
		}
	if (found != expected || expected != rows(all, m->table))
		printf("# %s: %zu rows of %zu are among %zu\n", m->table, found, expected,
			rows(all, m->table));
	return found == expected && expected == rows(all, m->table);
}

static bool merges(json_t *const *files, size_t n, const json_t *all, const struct merging *m)
{
	bool ok = true;
	size_t groups = 0;

	if (!m->keys)
		return same_rows(files, n, all, m);
	for (size_t i = 0; i < rows(all, m->table); i++) {
		const json_t *r = row(all, m->table, i);

		ok &= agree(files, n, all, m, r, m->sums, 's') &
			agree(files, n, all, m, r, m->most, 'm') &
			agree(files, n, all, m, r, m->least, 'l');
		for (size_t k = 0; k < i; k++)
			ok &= !same_keys(r, row(all, m->table, k), m->keys);
	}
	for (size_t f = 0; f < n; f++) /* and none is missing */
		for (size_t i = 0; i < rows(files[f], m->table); i++) {
			bool there = false;

			for (size_t k = 0; k < rows(all, m->table); k++)
				there |= same_keys(
					row(files[f], m->table, i), row(all, m->table, k), m->keys);
			ok &= there;
			groups++;
		}
	return ok && (groups || !rows(all, m->table));
}

static void as_a_naive_merge(void)
{
	size_t met[sizeof(mergings) / sizeof(*mergings)] = { 0 };
	struct rp *p = malloc(sizeof(*p));

	for (unsigned seed = 1; seed <= SEEDS; seed++) {
		json_t *files[RANKS], *all;
		int fds[RANKS];

		for (unsigned i = 0; i < RANKS; i++) {
			fds[i] = file_of(rp_make, p, seed * 11 + i);
			files[i] = report(reader_of(dup(fds[i])), NULL, &plain);
		}
		all = joined(fds, RANKS, &plain);
		for (size_t m = 0; m < sizeof(mergings) / sizeof(*mergings); m++) {
			CHECK(merges(files, RANKS, all, &mergings[m]));
			met[m] += rows(all, mergings[m].table);
		}
		json_decref(all);
		for (unsigned i = 0; i < RANKS; i++) {
			json_decref(files[i]);
			close(fds[i]);
		}
	}
	for (size_t m = 0; m < sizeof(mergings) / sizeof(*mergings); m++)
		CHECK(met[m] > 0);
	free(p);
}

/* ---- a program split over files ---- */

/* The part of one thread, and of the device that only this thread uses. */
static int part_of(const struct rp *whole, int thread, struct rp *part)
{
	struct gt_reader *r;
	int fd;

	*part = *whole;
	gpus_begin_with(&part->g, "{\"events\":\"api,ioctl,gpu\"}", 2);
	rp_types(part);
	for (int i = 0; i < part->ncalls; i++)
		if (part->calls[i].thread != thread) {
			part->calls[i].open = false;
			part->calls[i].end = INT64_MAX; /* in no epoch */
		}
	for (int i = 0; i < part->nops; i++)
		if (part->ops[i].device != thread)
			part->ops[i].end = INT64_MAX;
	rp_write(part);
	r = gpus_end(&part->g);
	fd = dup(part->g.fd);
	gt_reader_close(r);
	return fd;
}

static void as_the_whole_program(void)
{
	static const char *const tables[] = { "top", "ioctls", "categories", "layers", "kernels",
		"copies", "driver", "driver_calls", "cuda_api_sum", "cuda_gpu_kern_sum",
		"cuda_gpu_mem_time_sum", "cuda_gpu_mem_size_sum", "cuda_gpu_sum",
		"cuda_api_gpu_sum", "transfers", "userspace", "query" };
	struct rp *p = malloc(sizeof(*p)), *part = malloc(sizeof(*part));
	size_t met = 0;

	/* of these each thread has a device */
	for (unsigned seed = 3; seed <= 3 * SEEDS; seed += 3) {
		json_t *whole = report(rp_make(p, seed), NULL, &plain), *all;
		int fds[2] = { part_of(p, 0, part), part_of(p, 1, part) };

		all = joined(fds, 2, &plain);
		for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
			const json_t *a =
				json_object_get(json_object_get(whole, tables[i]), "rows");
			const json_t *b = json_object_get(json_object_get(all, tables[i]), "rows");

			CHECK(a && json_equal(a, b));
			if (!json_equal(a, b))
				printf("# seed %u: %s\n", seed, tables[i]);
			met += json_array_size(a);
		}
		json_decref(whole);
		json_decref(all);
		close(fds[0]);
		close(fds[1]);
	}
	CHECK(met > T_INPUTS(1000u));
	free(p);
	free(part);
}

/* ---- clocks ---- */

/* Ten calls of 10 ns, one each 100 ns. */
static int calls_from(const char *boot, int64_t start, const char *meta)
{
	struct gt_writer_options o = { .host = "node", .boot_id = boot, .meta_json = meta };
	int fd = memfd_create("calls", 0);
	struct gt_err err = GT_ERR_INIT;
	struct gt_writer *w = gt_writer_open(dup(fd), &o, &err);
	struct gt_type type = { .name = gt_writer_string(w, "cuInit"), .category = GT_CAT_INIT };
	uint32_t process = gt_writer_track(w,
		&(struct gt_track){ .parent = GT_NONE,
			.name = GT_NONE,
			.source = GT_NONE,
			.kind = GT_TRACK_PROCESS,
			.id = 1 });
	uint32_t thread = gt_writer_track(w,
		&(struct gt_track){ .parent = process,
			.name = GT_NONE,
			.source = GT_NONE,
			.kind = GT_TRACK_THREAD,
			.id = 1 });
	uint32_t init = gt_writer_type(w, &type);

	for (int i = 0; i < 10; i++)
		gt_writer_row(w, GT_CALL, thread,
			&(struct gt_row){ .start = start + 100 * i,
				.end = start + 100 * i + 10,
				.type = init },
			NULL, &err);
	gt_writer_close(w, &err);
	return fd;
}

/* The number of calls of each file in the range, as digits, and the time of the first one. */
static void looked_at(
	const int *fds, size_t n, const char *from, const char *to, char *counts, int64_t *firsts)
{
	static const char *const names[] = { "threads", "slowest", NULL };
	struct gt_reader *readers[RANKS] = { NULL }, *all;
	struct gt_analysis_options o = plain;
	struct gt_err err = GT_ERR_INIT;
	struct gt_time_ranges asked;
	json_t *j;

	for (size_t i = 0; i < n; i++)
		readers[i] = reader_of(dup(fds[i]));
	all = gt_reader_join(readers, n, &err);
	CHECK(!gt_time_ranges_set(&asked, &o, all, from, to, NULL, &err));
	j = report(all, names, &o);
	memset(counts, 0, n + 1);
	for (size_t i = 0; i < n; i++) {
		counts[i] = '0';
		firsts[i] = INT64_MAX;
	}
	for (size_t i = 0; i < rows(j, "threads"); i++)
		counts[(int)num(row(j, "threads", i), "recording")] =
			(char)('0' + num(row(j, "threads", i), "calls"));
	for (size_t i = 0; i < rows(j, "slowest"); i++) {
		int64_t *first = &firsts[(int)num(row(j, "slowest", i), "recording")],
			at = (int64_t)num(row(j, "slowest", i), "start_ns");

		*first = at < *first ? at : *first;
	}
	json_decref(j);
	gt_time_ranges_release(&asked);
	for (size_t i = 0; i < n; i++)
		gt_reader_close(readers[i]);
}

static void each_clock_has_its_own_time(void)
{
	int other[] = { calls_from("a", 5000, "{}"), calls_from("b", 900000000, "{}"),
		calls_from("b", 900000200, "{}") };
	int no_boot_id[] = { calls_from("", 5000, "{}"), calls_from("", 70, "{}") };
	int64_t firsts[RANKS];
	char counts[RANKS + 1];

	looked_at(other, 3, NULL, NULL, counts, firsts);
	CHECK_STR(counts, ":::"); /* ten of each: the character behind 9 */
	CHECK(firsts[0] == 0 && firsts[1] == 0 && firsts[2] == 200);
	looked_at(other, 3, "150ns", "450ns", counts, firsts);
	CHECK(!strcmp(counts, "333") && firsts[0] == 200 && firsts[1] == 200 && firsts[2] == 200);
	/* only the last file has this length */
	looked_at(other, 3, "1000ns", NULL, counts, firsts);
	CHECK(!strcmp(counts, "002") && firsts[2] == 1000);
	looked_at(no_boot_id, 2, "250ns", NULL, counts, firsts);
	CHECK(!strcmp(counts, "77") && firsts[0] == 300 && firsts[1] == 300);
	for (size_t i = 0; i < 3; i++)
		close(other[i]);
	close(no_boot_id[0]);
	close(no_boot_id[1]);
}

/* ---- identities of ranks ---- */

static char *path_of(int fd)
{
	char *path = NULL;

	return asprintf(&path, "/proc/self/fd/%d", fd) < 0 ? NULL : path;
}

static void ranks_are_distinguished(void)
{
	static const struct {
		const char *meta[3], *labels;
	} rows_of[] = {
		{ { "{\"environment\":{\"RANK\":\"2\"}}",
			  "{\"environment\":{\"RANK\":\"10\",\"SLURM_PROCID\":\"7\"}}",
			  "{\"environment\":{\"OMPI_COMM_WORLD_RANK\":\"0\"}}" },
			"0 2 10" },
		{ { "{\"kineto\":{\"distributedInfo\":{\"rank\":1}}}",
			  "{\"environment\":{\"SLURM_PROCID\":\"0\"}}",
			  "{\"environment\":{\"PMI_RANK\":\"5\"}}" },
			"0 1 5" },
		{ { "{\"environment\":{\"RANK\":\"1\"}}", "{\"environment\":{\"RANK\":\"1\"}}",
			  "{\"environment\":{\"RANK\":\"0\"}}" },
			NULL },
		{ { "{\"environment\":{\"RANK\":\"1\"}}",
			  "{\"environment\":{\"LOCAL_RANK\":\"0\"}}",
			  "{\"environment\":{\"RANK\":\"0\"}}" },
			NULL },
		{ { "{\"environment\":{\"RANK\":\"1\"}}", "{\"environment\":{\"RANK\":\"one\"}}",
			  "{\"environment\":{\"RANK\":\"0\"}}" },
			NULL },
	};

	for (size_t i = 0; i < sizeof(rows_of) / sizeof(*rows_of); i++) {
		char *paths[3], labels[64] = "", names[64] = "";
		struct gt_err err = GT_ERR_INIT;
		struct gt_ranks ranks;
		int fds[3];

		for (int k = 0; k < 3; k++) {
			paths[k] = path_of(fds[k] = calls_from("b", 1000 * k, rows_of[i].meta[k]));
			snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s%d",
				k ? " " : "", fds[k]);
		}
		CHECK(!gt_ranks_open(&ranks, paths, 3, 2, &err) && ranks.nread == 3 &&
			gt_reader_segments(ranks.all) == 3);
		for (int k = 0; k < 3; k++) {
			snprintf(labels + strlen(labels), sizeof(labels) - strlen(labels), "%s%s",
				k ? " " : "", ranks.names[k].label);
			CHECK(ranks.labels[k] == ranks.names[k].label &&
				ranks.list[k].first == (uint32_t)k);
			CHECK(!strncmp(ranks.names[k].called, "rank ", 5) ==
				(rows_of[i].labels != NULL));
		}
		CHECK(!strcmp(labels, rows_of[i].labels ? rows_of[i].labels : names));
		gt_ranks_release(&ranks);
		for (int k = 0; k < 3; k++) {
			close(fds[k]);
			free(paths[k]);
		}
	}
}

/* Files that are broken or given twice do not affect the others. */
static void uncountable_files_are_reported(void)
{
	int a = calls_from("b", 0, "{}"), b = calls_from("b", 10, "{}"),
	    bad = memfd_create("bad", 0), twice = memfd_create("twice", 0);
	char *paths[] = { path_of(bad), path_of(a), path_of(twice), path_of(b), path_of(a) };
	struct gt_err err = GT_ERR_INIT;
	struct gt_ranks ranks;

	CHECK_EQ(write(bad, "no trace", 8), 8);
	add_bytes(twice, a);
	add_bytes(twice, b); /* two recordings: not the same as either */
	CHECK(!gt_ranks_open(&ranks, paths, 5, 4, &err));
	CHECK(ranks.nread == 3 && ranks.n == 5 && gt_reader_segments(ranks.all) == 4);
	CHECK(ranks.list[0].path == paths[1] && ranks.list[1].path == paths[2] &&
		ranks.list[2].path == paths[3]);
	CHECK(strstr(ranks.names[2].label, " (1)") && strstr(ranks.names[2].called, " (1)") &&
		ranks.names[2].file == paths[2]);
	CHECK(ranks.list[3].path == paths[0] && ranks.list[3].err.code && !ranks.list[3].same &&
		!ranks.list[3].reader);
	CHECK(ranks.list[4].path == paths[4] && ranks.list[4].same == paths[1]);
	gt_ranks_release(&ranks);
	CHECK(!gt_ranks_open(&ranks, paths, 1, 4, &err) && !ranks.nread && !ranks.all &&
		ranks.list[0].err.code);
	gt_ranks_release(&ranks);
	for (size_t i = 0; i < 5; i++)
		free(paths[i]);
	close(a);
	close(b);
	close(bad);
	close(twice);
}

T_MAIN(T(as_in_one_file), T(as_a_naive_merge), T(as_the_whole_program),
	T(each_clock_has_its_own_time), T(ranks_are_distinguished),
	T(uncountable_files_are_reported))
