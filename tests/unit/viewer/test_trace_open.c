/* How the viewer opens traces: directly, by a copy that is made once and kept, or while they are
 * written. Every file here is small; the option `small` makes the viewer treat them as large. */
#define _GNU_SOURCE
#include <dirent.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include "tests/unit/own_folder.h"
#include "tests/unit/traces.h"
#include "formats/import/importers.h"
#include "viewer/app/index_cache.h"
#include "viewer/app/trace_open.h"

#define KINETO "kineto.json"
#define KILLED "killed.zst"
static const struct gt_trace_open_options always = { .small = 1 },
					  followed = { .follow = true, .small = 1 };
static struct gt_err err;

/* ---- a disk with little free space ---- */

static char full_folder[3100]; /* a folder; "": there is none */
static off_t room;             /* so large may files in it become */

/* Replaces the C library's function in the whole program, because traces are written with it. */
ssize_t writev(int fd, const struct iovec *v, int n)
{
	char self[40], path[4000];
	ssize_t len;
	struct stat st;
	off_t more = 0;

	for (int i = 0; i < n; i++)
		more += (off_t)v[i].iov_len;
	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	len = *full_folder ? readlink(self, path, sizeof(path) - 1) : -1;
	path[len > 0 ? len : 0] = 0;
	if (*full_folder && !strncmp(path, full_folder, strlen(full_folder)) && !fstat(fd, &st) &&
		st.st_size + more > room) {
		errno = ENOSPC;
		return -1;
	}
	return syscall(SYS_writev, fd, v, n);
}

/* ---- files ---- */

static void set_up(void)
{
	*full_folder = 0;
	static char here[3000], cache[3100], tmp[3100];

	err = (struct gt_err)GT_ERR_INIT;
	CHECK(getcwd(here, sizeof(here)));
	snprintf(cache, sizeof(cache), "%s/cache", here);
	snprintf(tmp, sizeof(tmp), "%s/tmp", here);
	CHECK(!system("rm -rf cache tmp && mkdir tmp"));
	setenv("XDG_CACHE_HOME", cache, 1);
	setenv("TMPDIR", tmp, 1);
}

static void put_file(const char *path, const void *bytes, size_t n)
{
	int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);

	CHECK(fd >= 0 && write(fd, bytes, n) == (ssize_t)n && !close(fd));
}

static void *get_file(const char *path, size_t *n)
{
	int fd = open(path, O_RDONLY);
	void *b = file_bytes(fd, n);

	close(fd);
	return b;
}

static void put_kineto(const char *path, unsigned n)
{
	FILE *f = fopen(path, "w");

	CHECK(f);
	fprintf(f, "{\"schemaVersion\":1,\"traceEvents\":[");
	for (unsigned i = 0; i < n; i++)
		fprintf(f,
			"%s{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":10,\"tid\":11,\"ts\":%u,\"dur\":5,"
			"\"args\":{\"cbid\":211,\"correlation\":%u}}\n",
			i ? "," : "", 1000 + i * 10, i);
	fprintf(f, "]}\n");
	CHECK(!fclose(f));
}

/* A second of calls a row of epochs. closed: its end is written. */
static void put_calls(int fd, unsigned epochs, bool closed)
{
	struct tiny t;

	CHECK(!tiny_open(&t, fd, true));
	for (unsigned e = 0; e < epochs; e++) {
		char name[40];

		snprintf(name, sizeof(name), "only in epoch %u", e);
		gt_writer_string(t.w, name);
		for (unsigned i = 0; i < 3000; i++)
			CHECK(!tiny_call(&t, t.thread[i % 2],
				i % 3 ? t.get : tiny_type(t.w, name, GT_CAT_QUERY, GT_OP_NONE, "x"),
				1000000000ll * e + i * 1000,
				1000000000ll * e + i * 1000 + 100 + i * 7919u % 900, 0, 0,
				i * 2654435761u, 0));
		CHECK(!gt_writer_meta(t.w, e % 2 ? "{\"odd\":1}" : "{\"even\":[1,2]}", &t.err));
		CHECK(!gt_writer_epoch(t.w, 1000000000ll * (e + 1), &t.err));
	}
	if (closed)
		CHECK(!gt_writer_close(t.w, &t.err));
	else
		gt_writer_abandon(t.w);
}

static int create(const char *path) { return open(path, O_CREAT | O_TRUNC | O_RDWR, 0600); }

/* Names in the cache's folder, and in that of temporary files; "." means it is not there. */
static unsigned files_in(const char *folder)
{
	DIR *d = opendir(folder);
	struct dirent *e;
	unsigned n = 0;

	while (d && (e = readdir(d)))
		n += e->d_name[0] != '.' || strlen(e->d_name) > 2;
	if (d)
		closedir(d);
	return n;
}

static char *copy_of(const char *path)
{
	static char to[100];
	struct gt_index_cache_key k;
	struct stat st;

	stat(path, &st);
	gt_index_cache_key(&k, path, &st);
	snprintf(to, sizeof(to), "cache/gt/%s", k.name);
	return to;
}

/* ---- reading ---- */

static uint64_t rows_of(struct gt_reader *r)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < gt_reader_segments(r); i++)
		n += gt_reader_segment(r, i)->rows[GT_CALL];
	return n;
}

static uint64_t sum_of(struct gt_reader *r)
{
	struct gt_filter all = { .kinds = 0 };
	struct gt_iter *it = gt_iter_open(r, &all, &err);
	struct gt_event ev;
	uint64_t sum = 0;

	while (it && gt_iter_next(it, &ev, &err) > 0)
		sum = sum * 31 + (uint64_t)ev.row.start + ev.row.type +
			(ev.row.nargs ? ev.args[0] : 7) + ev.track;
	gt_iter_close(it);
	return sum;
}

static bool same_names(const struct gt_segment *a, const struct gt_segment *b)
{
	bool same = a->nstrings == b->nstrings && a->ntypes == b->ntypes &&
		a->ntracks == b->ntracks && a->nanchors == b->nanchors &&
		!strcmp(a->meta_json, b->meta_json) && !strcmp(a->host, b->host) &&
		!strcmp(a->boot_id, b->boot_id);

	for (uint32_t i = 0; same && i < a->nstrings; i++)
		same = a->strings[i].len == b->strings[i].len &&
			!strcmp(gt_str(a, i), gt_str(b, i));
	for (uint32_t i = 0; same && i < a->ntypes; i++)
		same = a->types[i].name == b->types[i].name &&
			a->types[i].nfields == b->types[i].nfields;
	return same;
}

static bool same_traces(struct gt_reader *a, struct gt_reader *b)
{
	bool same = gt_reader_segments(a) == gt_reader_segments(b);

	for (uint32_t i = 0; same && i < gt_reader_segments(a); i++) {
		const struct gt_segment *s = gt_reader_segment(a, i), *t = gt_reader_segment(b, i);

		same = same_names(s, t) && !memcmp(s->rows, t->rows, sizeof(s->rows)) &&
			s->min_start == t->min_start && s->max_end == t->max_end &&
			s->closed == t->closed && s->complete_to == t->complete_to &&
			s->id == t->id && s->index == t->index;
	}
	return same && sum_of(a) == sum_of(b);
}

static struct gt_trace_open *begin(const char *path, const struct gt_trace_open_options *options)
{
	err = (struct gt_err)GT_ERR_INIT;
	return gt_trace_open_start(path, options, &err);
}

/* Runs all steps. NULL: err has the reason. */
static struct gt_trace_open *opened(const char *path, const struct gt_trace_open_options *options)
{
	struct gt_trace_open *o = begin(path, options);
	int more;

	while ((more = gt_trace_open_step(o, 1000, &err)) > 0)
		;
	if (!more && !err.code)
		return o;
	gt_trace_open_close(o);
	return NULL;
}

static bool notes(const struct gt_trace_open *o, const char *what)
{
	const char *one;

	for (size_t i = 0; (one = gt_trace_open_note(o, i)); i++)
		if (strstr(one, what))
			return true;
	return false;
}

/* Opens it. Are all rows there, and does a note contain this text? */
static bool opens(const char *path, uint64_t rows, const char *told)
{
	struct gt_trace_open *o = opened(path, &always);
	bool fine = o && rows_of(gt_trace_open_result(o)) == rows && (!told || notes(o, told));

	gt_trace_open_close(o);
	return fine;
}

/* ---- tests ---- */

static void a_closed_trace_is_open_at_once(void)
{
	struct gt_trace_open *o;

	set_up();
	put_calls(create("closed.zst"), 2, true);
	o = begin("closed.zst", &always);
	CHECK(o && !gt_trace_open_result(o) && !gt_trace_open_percent(o) &&
		gt_trace_open_step(o, 0, &err) == 0 && !err.code);
	CHECK(rows_of(gt_trace_open_result(o)) == 6000 && !gt_trace_open_note(o, 0) &&
		gt_trace_open_percent(o) == 100);
	CHECK(!strcmp(gt_trace_open_path(o), "closed.zst") &&
		gt_trace_open_poll(o) == GT_FOLLOW_UNCHANGED);
	gt_trace_open_close(o);
	CHECK(!files_in("cache/gt") && access("cache", F_OK));
}

static void another_tools_file_is_indexed_once(void)
{
	struct gt_trace_open *o;
	struct stat st;
	FILE *f;

	set_up();
	put_kineto(KINETO, 5000);
	o = opened(KINETO, &always);
	CHECK(o && rows_of(gt_trace_open_result(o)) == 5000 && notes(o, "indexed; cached at ") &&
		notes(o, copy_of(KINETO) + 6));
	gt_trace_open_close(o);
	CHECK(!stat("cache/gt", &st) && (st.st_mode & 07777) == 0700 && files_in("cache/gt") == 1 &&
		!files_in("tmp"));

	o = begin(KINETO, &always);
	CHECK(gt_trace_open_step(o, 0, &err) == 0 && rows_of(gt_trace_open_result(o)) == 5000 &&
		notes(o, "index found; cached at "));
	gt_trace_open_close(o);

	CHECK((f = fopen(KINETO, "a")) && fputs("\n", f) >= 0 && !fclose(f));
	CHECK(opens(KINETO, 5000, "indexed; cached at ") && files_in("cache/gt") == 2);
	o = opened(KINETO, &(struct gt_trace_open_options){ .small = 1, .uncached = true });
	CHECK(o && rows_of(gt_trace_open_result(o)) == 5000 && !gt_trace_open_note(o, 0));
	gt_trace_open_close(o);
}

static void a_killed_recording_is_indexed_and_reported(void)
{
	set_up();
	put_calls(create(KILLED), 3, false);
	CHECK(opens(KILLED, 9000, "indexed; cached at ") && opens(KILLED, 9000, "index found"));
	CHECK(opens(KILLED, 9000, "not closed: complete to 3.000 s"));
	CHECK(!system("cat " KILLED " " KILLED " > two.zst"));
	CHECK(opens("two.zst", 18000, "recording 2: not closed: complete to 3.000 s") &&
		opens("two.zst", 18000, "recording 1: not closed"));
	CHECK(opens("two.zst", 18000, "index found"));
}

static void a_damaged_one_is_not_kept(void)
{
	size_t n;
	uint8_t *b;

	set_up();
	put_calls(create(KILLED), 3, false);
	b = get_file(KILLED, &n);
	b[n / 2] ^= 0x55;
	put_file(KILLED, b, n);
	free(b);
	for (int i = 0; i < 2; i++) {
		struct gt_trace_open *o = opened(KILLED, &always);

		CHECK(o && rows_of(gt_trace_open_result(o)) < 9000 &&
			notes(o, "damaged at byte ") && notes(o, "not cached"));
		CHECK(gt_trace_open_is_damaged(o));
		gt_trace_open_close(o);
	}
	CHECK(!files_in("cache/gt") && !files_in("tmp"));
}

static void it_is_cancelled_at_any_moment(void)
{
	char fifo[] = "fifo";
	struct gt_trace_open *o;
	int fd;

	set_up();
	put_kineto(KINETO, 20000);
	for (unsigned i = 0; i < 6; i++) {
		o = begin(KINETO, &always);
		CHECK_EQ(gt_trace_open_step(o, 0, &err), 1);
		for (unsigned k = 0; k < i; k++)
			CHECK(gt_trace_open_step(o, 3, &err) >= 0 &&
				gt_trace_open_percent(o) <= 100);
		CHECK(strlen(gt_trace_open_progress(o)));
		gt_trace_open_close(o);
		CHECK(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
		unlink(copy_of(KINETO)); /* fast machines are done by then */
		CHECK(!files_in("cache/gt") && !files_in("tmp"));
	}

	unlink(fifo);
	CHECK(!mkfifo(fifo, 0600) && (fd = open(fifo, O_RDWR)) >= 0 &&
		write(fd, "{\"schemaVersion\":1,\"traceEvents\":[", 34) == 34);
	o = begin(fifo, &always);
	for (unsigned i = 0; i < 5; i++)
		CHECK(gt_trace_open_step(o, 10, &err) == 1 && !gt_trace_open_percent(o) &&
			strstr(gt_trace_open_progress(o), "so far"));
	gt_trace_open_close(o);
	close(fd);
	CHECK(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD && !files_in("tmp"));
}

static void what_cannot_be_kept_is_used_all_the_same(void)
{
	static const struct {
		const char *make, *told;
	} ways[] = {
		{ "touch cache", "cannot use " },
		{ "mkdir -p cache/gt && chmod 777 cache/gt", "other users may write to " },
		{ "mkdir -p cache/gt && chmod 777 cache", "other users may write to " },
		{ "mkdir -p cache elsewhere && ln -s ../elsewhere cache/gt", "cannot use " },
	};
	char not_there[] = "relative";

	for (unsigned i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		set_up();
		put_kineto(KINETO, 500);
		CHECK(!system(ways[i].make) && opens(KINETO, 500, "index not cached: ") &&
			opens(KINETO, 500, ways[i].told));
		CHECK(!files_in("tmp") && !files_in("elsewhere"));
	}
	set_up();
	setenv("XDG_CACHE_HOME", not_there, 1);
	unsetenv("HOME");
	CHECK(opens(KINETO, 500, "neither XDG_CACHE_HOME nor HOME"));
}

/* A limit on the size of files has the effect of a full disk. It holds for this process, too,
 * which writes no file. */
static void a_full_disk_is_reported(void)
{
	struct rlimit before, little = { 600, RLIM_INFINITY };

	set_up();
	put_kineto(KINETO, 5000);
	put_calls(create(KILLED), 3, false);
	getrlimit(RLIMIT_FSIZE, &before);
	little.rlim_max = before.rlim_max;
	setrlimit(RLIMIT_FSIZE, &little);
	CHECK(!opened(KINETO, &always));
	CHECK(err.code == -EFBIG && strstr(err.text, "no space left for the index in ") &&
		strstr(err.text, "(TMPDIR)"));
	CHECK(opens(KILLED, 9000, "no space left in ") &&
		opens(KILLED, 9000, "not indexed, so drawing is slower: "));
	setrlimit(RLIMIT_FSIZE, &before);
	CHECK(!files_in("cache/gt") && !files_in("tmp"));
	CHECK(opens(KINETO, 5000, "indexed; cached at "));
}

/* Wherever the cache's disk becomes full: the unfinished file is abandoned, and the index is
 * built elsewhere. */
static void a_full_cache_gives_way_to_the_temporary_folder(void)
{
	struct gt_trace_open *o;
	struct stat st;
	uint64_t sum;

	set_up();
	put_kineto(KINETO, 5000);
	put_calls(create(KILLED), 3, false);
	CHECK((o = opened(KINETO, &always)) && !stat(copy_of(KINETO), &st) && st.st_size > 1000);
	sum = sum_of(gt_trace_open_result(o));
	gt_trace_open_close(o);
	for (unsigned i = 0; i < 5; i++) {
		CHECK(!system("rm -rf cache"));
		snprintf(full_folder, sizeof(full_folder), "%s", getenv("XDG_CACHE_HOME"));
		room = i == 4 ? st.st_size - 1 : st.st_size * i / 4;
		CHECK((o = opened(KINETO, &always)) && rows_of(gt_trace_open_result(o)) == 5000 &&
			sum_of(gt_trace_open_result(o)) == sum);
		CHECK(notes(o, "index not cached: no space left in ") && notes(o, "/cache/gt") &&
			!notes(o, "cached at "));
		CHECK(!files_in("cache/gt") && !files_in("tmp"));
		gt_trace_open_close(o);
		CHECK(!files_in("cache/gt") && !files_in("tmp"));
	}
	room = 0;
	CHECK(opens(KILLED, 9000, "index not cached: no space left in ") &&
		opens(KILLED, 9000, "not closed: complete to 3.000 s"));
	*full_folder = 0;
	CHECK(opens(KINETO, 5000, "indexed; cached at ") && opens(KINETO, 5000, "index found"));
	/* and the reverse: if the cache has space, TMPDIR needs none */
	CHECK(!system("rm -rf cache"));
	snprintf(full_folder, sizeof(full_folder), "%s", getenv("TMPDIR"));
	CHECK(opens(KINETO, 5000, "indexed; cached at "));
	*full_folder = 0;
}

/* A file in the place of a copy is detected if it is not that copy. */
static void copies_are_distrusted(void)
{
	static const char *const ways[] = { "truncate -s -100 %s", "truncate -s 0 %s",
		"head -c 5000 /dev/zero > %s", "cp closed.zst %s",
		"rm %s && ln -s ../../closed.zst %s", "rm %s && mkfifo %s", "cp other %s",
		"chmod 666 %s" };
	char command[500];

	set_up();
	put_calls(create("closed.zst"), 1, true);
	put_kineto("other.json", 70);
	CHECK(opens("other.json", 70, "indexed; "));
	snprintf(command, sizeof(command), "mv %s other", copy_of("other.json"));
	CHECK(!system(command));
	put_kineto(KINETO, 500);
	for (unsigned i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		CHECK(opens(KINETO, 500, "cached at"));
		snprintf(command, sizeof(command), ways[i], copy_of(KINETO), copy_of(KINETO));
		CHECK(!system(command));
		CHECK(opens(KINETO, 500, "indexed; cached at "));
		CHECK(opens(KINETO, 500, "index found"));
	}
	snprintf(command, sizeof(command), "rm %s && mkdir %s", copy_of(KINETO), copy_of(KINETO));
	CHECK(!system(command) && opens(KINETO, 500, "index not cached: cannot store the copy") &&
		files_in("cache/gt") == 1);
}

/* A copy of two recordings without the second one is closed, but does not count as complete. */
static void half_a_copy_is_none(void)
{
	struct gt_reader *r;
	uint8_t *b;
	size_t n;

	set_up();
	put_calls(create(KILLED), 1, false);
	CHECK(!system("cat " KILLED " " KILLED " > two.zst") &&
		opens("two.zst", 6000, "indexed; "));
	b = get_file(copy_of("two.zst"), &n);
	for (size_t cut = n - 1;; cut--) { /* where the first one ends */
		put_file("half.zst", b, cut);
		r = gt_reader_open("half.zst", &err);
		if (r && gt_reader_segments(r) == 1 && gt_reader_segment(r, 0)->closed)
			break;
		gt_reader_close(r);
		cut = cut > n / 2 + 200 ? n / 2 + 200 : cut;
		CHECK(cut > 1000);
	}
	gt_reader_close(r);
	free(b);
	b = get_file("half.zst", &n);
	put_file(copy_of("two.zst"), b, n);
	free(b);
	CHECK(opens("two.zst", 6000, "indexed; cached at "));
}

static void two_at_once(void)
{
	struct gt_trace_open *a, *b;
	int more = 1;

	set_up();
	put_kineto(KINETO, 5000);
	a = begin(KINETO, &always);
	b = begin(KINETO, &always);
	CHECK(gt_trace_open_step(a, 0, &err) == 1 && gt_trace_open_step(b, 0, &err) == 1);
	while (more > 0)
		more = gt_trace_open_step(a, 100, &err);
	for (more = 1; more > 0;)
		more = gt_trace_open_step(b, 100, &err);
	CHECK(!err.code &&
		same_names(gt_reader_segment(gt_trace_open_result(a), 0),
			gt_reader_segment(gt_trace_open_result(b), 0)));
	CHECK(sum_of(gt_trace_open_result(a)) == sum_of(gt_trace_open_result(b)) &&
		files_in("cache/gt") == 1);
	CHECK(opens(KINETO, 5000, "index found") &&
		sum_of(gt_trace_open_result(a)) == sum_of(gt_trace_open_result(b)));
	gt_trace_open_close(a);
	gt_trace_open_close(b);
}

static void the_cache_is_bounded(void)
{
	struct gt_trace_open *oldest;
	struct gt_index_cache c;
	char name[20];
	int held;

	set_up();
	for (unsigned i = 0; i < 5; i++) {
		snprintf(name, sizeof(name), "k%u.json", i);
		put_kineto(name, 100 + i);
		CHECK(opens(name, 100 + i, "indexed; "));
		CHECK(!utimensat(AT_FDCWD, copy_of(name),
			(struct timespec[]){ { 1000 + i, 0 }, { 1000 + i, 0 } }, 0));
	}
	put_file("cache/gt/mine.txt", "x", 1);
	put_file("cache/gt/.new-0123456789abcdef", "x", 1);
	put_file("cache/gt/.new-fedcba9876543210", "x", 1);
	CHECK((held = open("cache/gt/.new-fedcba9876543210", O_RDWR)) >= 0 &&
		!flock(held, LOCK_SH));
	CHECK((oldest = opened("k0.json", &always)) && notes(oldest, "index found"));
	CHECK(!utimensat(
		AT_FDCWD, copy_of("k0.json"), (struct timespec[]){ { 1, 0 }, { 1, 0 } }, 0));
	CHECK(!gt_index_cache_open(&c, &err));
	gt_index_cache_trim(&c, 3, UINT64_MAX); /* the oldest is open */
	CHECK(files_in("cache/gt") == 5 && !access(copy_of("k0.json"), F_OK) &&
		access(copy_of("k1.json"), F_OK) && access(copy_of("k2.json"), F_OK) &&
		!access(copy_of("k3.json"), F_OK) && !access(copy_of("k4.json"), F_OK));
	gt_index_cache_trim(&c, 3, 1);
	CHECK(!access(copy_of("k0.json"), F_OK) && access(copy_of("k4.json"), F_OK) &&
		files_in("cache/gt") == 3);
	gt_trace_open_close(oldest);
	close(held);
	gt_index_cache_trim(&c, 0, 0);
	CHECK_EQ(files_in("cache/gt"), 1);
	gt_index_cache_close(&c);
}

/* ---- following ---- */

/* A trace that is being written, cut anywhere: the result of reading on equals that of reading
 * it again from the start. */
static void read_on_is_read_anew(void)
{
	uint32_t lcg = 7;
	struct gt_reader *grown = NULL, *anew;
	uint8_t *b;
	size_t n, at = 0;
	int fd;

	set_up();
	put_calls(create("whole.zst"), 5, true);
	put_calls(create("cut.zst"), 2, false);
	CHECK(!system("cat whole.zst cut.zst whole.zst > all.zst"));
	b = get_file("all.zst", &n);
	CHECK((fd = create("growing.zst")) >= 0);
	while (at < n) {
		size_t more = (lcg = lcg * 1103515245 + 12345) >> 8;

		more = 1 + more % (lcg >> 4 & 1 ? 60 : 7000);
		more = more > n - at ? n - at : more;
		CHECK(write(fd, b + at, more) == (ssize_t)more);
		at += more;
		if (!grown) {
			err = (struct gt_err)GT_ERR_INIT;
			grown = gt_reader_open_growing(
				open("growing.zst", O_RDONLY), UINT64_MAX, &err);
			continue;
		}
		CHECK(gt_reader_grow(grown, lcg >> 5 & 1 ? UINT64_MAX : more / 2 + 1, &err) == 1);
		while (gt_reader_grow(grown, more, &err) > 0)
			;
		CHECK(!err.code && gt_reader_bytes(grown) == at && !gt_reader_grow(grown, 1, &err));
		anew = gt_reader_open("growing.zst", &err);
		CHECK(anew && same_traces(grown, anew));
		gt_reader_close(anew);
	}
	CHECK(gt_reader_segments(grown) == 3 && gt_reader_segment(grown, 2)->closed);
	CHECK(!ftruncate(fd, (off_t)n - 1) && gt_reader_grow(grown, 1, &err) == -ESTALE);
	gt_reader_close(grown);
	close(fd);
	free(b);
}

static void a_recording_is_followed(void)
{
	struct gt_trace_open *o;
	struct tiny t;
	int fd;

	set_up();
	fd = create("live.zst");
	o = begin("live.zst", &followed);
	/* nothing is there yet */
	CHECK(gt_trace_open_step(o, 1, &err) == 1 && gt_trace_open_step(o, 1, &err) == 1 &&
		!gt_trace_open_result(o));
	CHECK(!tiny_open(&t, fd, true) && !tiny_call(&t, t.thread[0], t.get, 10, 20, 0, 0, 0, 0) &&
		!gt_writer_epoch(t.w, 100, &t.err));
	while (gt_trace_open_step(o, 10, &err) > 0)
		;
	CHECK(!err.code && rows_of(gt_trace_open_result(o)) == 1 &&
		notes(o, "still being written: complete to"));
	CHECK(gt_trace_open_poll(o) == GT_FOLLOW_UNCHANGED && !gt_trace_open_refresh(o, &err) &&
		gt_trace_open_result(o));
	for (unsigned i = 1; i < 4; i++) {
		CHECK(!tiny_call(&t, t.thread[0], t.launch, 1000 * i, 1000 * i + 20, 0, 0, 0, 0) &&
			!gt_writer_epoch(t.w, 1000 * i + 100, &t.err));
		CHECK(gt_trace_open_poll(o) == GT_FOLLOW_GREW &&
			gt_trace_open_poll(o) == GT_FOLLOW_GREW);
		CHECK(!gt_trace_open_refresh(o, &err) &&
			rows_of(gt_trace_open_result(o)) == 1 + i &&
			gt_trace_open_poll(o) == GT_FOLLOW_UNCHANGED);
	}
	CHECK(!gt_writer_close(t.w, &t.err) && gt_trace_open_poll(o) == GT_FOLLOW_CLOSED &&
		!gt_trace_open_refresh(o, &err));
	CHECK(notes(o, "complete: the recorder closed the trace") &&
		gt_reader_segment(gt_trace_open_result(o), 0)->closed);
	CHECK_EQ(gt_trace_open_poll(o), GT_FOLLOW_UNCHANGED);
	gt_trace_open_close(o);
	CHECK((o = opened("live.zst", &followed)) && notes(o, "there is nothing to follow") &&
		gt_trace_open_poll(o) == GT_FOLLOW_UNCHANGED);
	gt_trace_open_close(o);
	put_kineto(KINETO, 10);
	CHECK((o = opened(KINETO, &followed)) && notes(o, "only gt's own traces") &&
		rows_of(gt_trace_open_result(o)) == 10);
	gt_trace_open_close(o);
	CHECK(access("cache/gt", F_OK) || files_in("cache/gt") == 1);
}

static void a_followed_file_is_cut_off_or_replaced(void)
{
	struct gt_trace_open *o;

	set_up();
	put_calls(create(KILLED), 3, false);
	CHECK((o = opened(KILLED, &followed)) && rows_of(gt_trace_open_result(o)) == 9000);
	CHECK(!truncate(KILLED, 0) && gt_trace_open_poll(o) == GT_FOLLOW_REPLACED &&
		rows_of(gt_trace_open_result(o)) == 9000);
	CHECK(!gt_trace_open_refresh(o, &err) && !gt_trace_open_result(o) &&
		gt_trace_open_step(o, 1, &err) == 1);
	put_calls(create(KILLED), 1, false);
	while (gt_trace_open_step(o, 10, &err) > 0)
		;
	CHECK(!err.code && rows_of(gt_trace_open_result(o)) == 3000);
	put_calls(create("next.zst"), 2, false);
	CHECK(!rename("next.zst", KILLED) && gt_trace_open_poll(o) == GT_FOLLOW_REPLACED &&
		!gt_trace_open_refresh(o, &err));
	while (gt_trace_open_step(o, 10, &err) > 0)
		;
	CHECK(!err.code && rows_of(gt_trace_open_result(o)) == 6000);
	/* overwritten, and longer now than before */
	put_calls(create(KILLED), 4, false);
	CHECK(gt_trace_open_poll(o) == GT_FOLLOW_REPLACED && !gt_trace_open_refresh(o, &err) &&
		!gt_trace_open_result(o));
	while (gt_trace_open_step(o, 10, &err) > 0)
		;
	CHECK(!err.code && rows_of(gt_trace_open_result(o)) == 12000);
	gt_trace_open_close(o);
}

static void a_recorder_that_is_killed_is_reported(void)
{
	int fd = create("lease"), more = open("lease", O_RDONLY);
	enum gt_follow_state said = GT_FOLLOW_UNCHANGED;
	struct gt_trace_open *o;
	struct tiny t;

	set_up();
	close(fd);
	fd = fcntl(more, F_SETLEASE, F_RDLCK);
	close(more);
	if (fd)
		SKIP("the file system has no leases");
	CHECK(!tiny_open(&t, create(KILLED), true) &&
		!tiny_call(&t, t.thread[0], t.get, 10, 20, 0, 0, 0, 0) &&
		!gt_writer_epoch(t.w, 100, &t.err));
	CHECK((o = opened(KILLED, &followed)) && gt_trace_open_result(o));
	for (unsigned i = 0; i < 12; i++) { /* it is still there */
		CHECK_EQ(gt_trace_open_poll(o), GT_FOLLOW_UNCHANGED);
		usleep(100000);
	}
	gt_writer_abandon(t.w);
	for (unsigned i = 0; said == GT_FOLLOW_UNCHANGED && i < 100; i++) {
		usleep(100000);
		said = gt_trace_open_poll(o);
	}
	CHECK(said == GT_FOLLOW_ABANDONED && notes(o, "ended without closing the trace") &&
		notes(o, "not closed: complete to"));
	usleep(1100000);
	CHECK(gt_trace_open_poll(o) == GT_FOLLOW_UNCHANGED &&
		rows_of(gt_trace_open_result(o)) == 1);
	gt_trace_open_close(o);
}

static void a_file_that_is_no_trace_is_reported(void)
{
	static const struct {
		const char *path;
		int code;
		const char *told;
	} files[] = {
		{ "not-there", -ENOENT, "cannot open: " },
		{ ".", -EISDIR, "is a folder" },
		{ "empty", -EILSEQ, "empty" },
		{ "text", -EILSEQ, "not a gt trace" },
	};

	set_up();
	put_file("empty", "", 0);
	put_file("text", "some words that are no trace at all\n", 36);
	for (unsigned i = 0; i < sizeof(files) / sizeof(*files); i++) {
		CHECK(!opened(files[i].path, &always));
		CHECK(err.code == files[i].code && strstr(err.text, files[i].told));
	}
	CHECK(!files_in("cache/gt") && !files_in("tmp"));
}

T_MAIN_IN_OWN_FOLDER(T(a_closed_trace_is_open_at_once), T(another_tools_file_is_indexed_once),
	T(a_killed_recording_is_indexed_and_reported), T(a_damaged_one_is_not_kept),
	T(it_is_cancelled_at_any_moment), T(what_cannot_be_kept_is_used_all_the_same),
	T(a_full_disk_is_reported), T(a_full_cache_gives_way_to_the_temporary_folder),
	T(copies_are_distrusted), T(half_a_copy_is_none), T(two_at_once), T(the_cache_is_bounded),
	T(read_on_is_read_anew), T(a_recording_is_followed),
	T(a_followed_file_is_cut_off_or_replaced), T(a_recorder_that_is_killed_is_reported),
	T(a_file_that_is_no_trace_is_reported))
