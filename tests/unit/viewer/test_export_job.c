/* Exports in the background: the file equals the one that gtexport writes, a stopped export
 * leaves no file, and a file gets its name only when it is complete. */
#define _GNU_SOURCE
#include "tests/unit/own_folder.h"
#include "tests/unit/viewer/view_stage.h"
#include <dirent.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "viewer/app/export_job.h"
#include "formats/os/atomic_file.h"

static const char *const once[] = { "b", NULL }, *const two_boots[] = { "a", "b", NULL };

static void set_up(struct stage *st, const char *const *boots)
{
	CHECK(!system("rm -rf out && mkdir -p out some"));
	unlink("some/trace.zst.gtmarks");
	state = 61;
	stage_up(st, boots, 3000, 100, 40);
}

/* Names in a folder, those that begin with a dot among them. */
static unsigned files_in(const char *folder)
{
	DIR *d = opendir(folder);
	unsigned n = 0;

	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n - 2;
}

static size_t size_of(const char *path)
{
	struct stat s;

	return stat(path, &s) ? 0 : (size_t)s.st_size;
}

/* Types, and draws the present state without waiting. */
static bool press(struct stage *st, const char *script)
{
	struct key_script s = { .at = script };
	struct gt_key k;
	int rc;

	while ((rc = key_script_next(&s, &k)) > 0)
		if (gt_ui_key(&st->s, k, &st->err))
			return false;
	gt_ui_draw(&st->s, &st->screen);
	return !rc;
}

static bool no_children(void) { return waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD; }

/* ---- tests ---- */

static void it_goes_on_in_the_background(void)
{
	struct stage st;

	set_up(&st, once);
	CHECK(play(&st, "") && press(&st, ": 'export jsonl out/a.jsonl' Enter") && st.s.export_job);
	CHECK(on_screen(&st, "exporting: ") && on_screen(&st, "%, Esc stops") && !files_in("out"));
	CHECK(press(&st, ": 'export jsonl out/b.jsonl' Enter") &&
		on_screen(&st, "an export is already running: Esc stops"));
	CHECK(press(&st, "l w 3 1") && on_screen(&st, "exporting: ") &&
		gt_ui_step(&st.s, 1000, &st.err) == 1);
	CHECK(play(&st, "") && !st.s.export_job && on_screen(&st, " to out/a.jsonl") &&
		on_screen(&st, "wrote ") && files_in("out") == 1);
	CHECK(size_of("out/a.jsonl") > 100000 && no_children());
	CHECK(play(&st, "l") && line_of(&st, "wrote") < 0);
	strike(&st);
}

static void its_end_waits_for_a_line_of_its_own(void)
{
	struct stage st;

	set_up(&st, once);
	CHECK(play(&st, ": 'export folded out/a.folded' Enter : 'fi'") && st.s.export_job &&
		on_screen(&st, ":fi") && !files_in("out"));
	CHECK(play(&st, "Esc") && !st.s.export_job && on_screen(&st, "wrote ") &&
		files_in("out") == 1);
	strike(&st);
}

static void nothing_is_left_of_what_was_stopped(void)
{
	struct stage st;

	set_up(&st, once);
	CHECK(play(&st, "") && press(&st, ": 'export native out/a.zst' Enter Esc") &&
		!st.s.export_job && no_children());
	CHECK(on_screen(&st, "export stopped: no file was written") && !files_in("out"));
	CHECK(press(&st, ": 'export native out/a.zst' Enter q") && st.s.quit && !st.s.export_job &&
		!files_in("out") && no_children());
	st.s.quit = false;
	CHECK(press(&st, ": 'export native out/a.zst' Enter : 'quit' Enter") && st.s.quit &&
		!st.s.export_job && !files_in("out"));
	CHECK(press(&st, ": 'export native out/a.zst' Enter"));
	strike(&st);
	CHECK(!files_in("out") && no_children());
}

/* Esc stops a search before it stops the export: the status line shows both in the same words. */
static void a_search_is_stopped_first(void)
{
	struct stage st;

	set_up(&st, once);
	CHECK(play(&st, "j j j j") &&
		press(&st,
			": 'export native out/a.zst' Enter : 'find nothing_is_called_so|ioctl' Enter"));
	if (st.s.view->ops->is_searching(st.s.view))
		CHECK(press(&st, "Esc") && st.s.export_job);
	CHECK(press(&st, "Esc") && !st.s.export_job);
	strike(&st);
}

static void names_are_as_in_a_shell(void)
{
	static const struct {
		const char *typed, *name;
	} ways[] = {
		{ "out/a\\ b.json", "out/a b.json" },
		{ "\"out/c d.json\"", "out/c d.json" },
		{ "out/'e \"f\"'.json", "out/e \"f\".json" },
		{ "~/g.json", "out/g.json" },
		{ "~/'h i'", "out/h i" },
		{ "'out/~'", "out/~" },
	};
	char *here = getcwd(NULL, 0), home[5000], script[200], format[] = "out/j.json.gz";
	struct stage st;

	set_up(&st, once);
	snprintf(home, sizeof(home), "%s/out", here);
	setenv("HOME", home, 1);
	for (unsigned i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		/* a script's quotes are its own */
		snprintf(script, sizeof(script), "export chrome %s 1us 40us", ways[i].typed);
		CHECK(play(&st, ":"));
		for (char *c = script; *c; c++)
			CHECK(!gt_ui_key(&st.s, (struct gt_key){ .key = (uint8_t)*c }, &st.err));
		CHECK(play(&st, "Enter") && on_screen(&st, "wrote ") &&
			size_of(ways[i].name) > 100);
	}
	CHECK(play(&st, ": 'export chrome \"out/x y' Enter") &&
		on_screen(&st, "a quote is not closed"));
	CHECK(play(&st, ": 'export chrome out/x y z' Enter") &&
		on_screen(&st, "quote a file name that has spaces"));
	CHECK(play(&st, ": 'export chrome out/x y' Enter") && on_screen(&st, "invalid range") &&
		access("out/x", F_OK));
	CHECK(play(&st, ": 'export chrome out/j.json.gz' Enter") && size_of(format) > 1000 &&
		!system("gzip -t out/j.json.gz"));
	unsetenv("HOME");
	free(here);
	strike(&st);
}

static void an_existing_file_is_replaced_on_command(void)
{
	struct stat s, link;
	struct stage st;

	set_up(&st, once);
	CHECK(!system(
		"echo old > out/a && chmod 640 out/a && ln -s a out/b && mkdir out/d && mkfifo out/f"));
	CHECK(play(&st, ": 'export chrome out/a' Enter") &&
		on_screen(&st, "out/a exists: export! replaces it") && size_of("out/a") == 4);
	CHECK(play(&st, ": 'export! chrome out/b' Enter") && on_screen(&st, "wrote ") &&
		size_of("out/a") > 1000);
	CHECK(!stat("out/a", &s) && (s.st_mode & 07777) == 0640 && !lstat("out/b", &link) &&
		S_ISLNK(link.st_mode));
	CHECK(play(&st, ": 'export! chrome out/d' Enter") &&
		on_screen(&st, "out/d is not a regular file"));
	CHECK(play(&st, ": 'export! chrome out/f' Enter") &&
		on_screen(&st, "out/f is not a regular file"));
	CHECK(play(&st, ": 'export! chrome out/' Enter") &&
		on_screen(&st, "out/ is not a regular file"));
	CHECK(play(&st, ": 'export chrome out/no/c' Enter") &&
		on_screen(&st, "cannot write out/no/c: No such file") && files_in("out") == 4);
	/* another program creates it in between */
	CHECK(press(&st, ": 'export chrome out/e' Enter") && !system("echo new > out/e"));
	CHECK(play(&st, "") && on_screen(&st, "out/e exists") && size_of("out/e") == 4 &&
		files_in("out") == 5);
	strike(&st);
}

/* A limit on the size of files has the effect of a full disk. */
static void a_full_disk_is_reported(void)
{
	static const char *const formats[] = { "chrome", "folded", "jsonl", "native" };
	struct rlimit before, little;
	char script[80];
	struct stage st;

	set_up(&st, once);
	getrlimit(RLIMIT_FSIZE, &before);
	little = (struct rlimit){ 600, before.rlim_max };
	for (unsigned i = 0; i < 4; i++) {
		snprintf(script, sizeof(script), ": 'export %s out/a' Enter", formats[i]);
		setrlimit(RLIMIT_FSIZE, &little);
		CHECK(play(&st, "Esc") && play(&st, script));
		setrlimit(RLIMIT_FSIZE, &before);
		CHECK(on_screen(&st, "no file was written: cannot write out/a: File too large") &&
			!files_in("out"));
	}
	strike(&st);
}

static void every_view_exports_what_is_seen(void)
{
	size_t all, seen;
	struct stage st;

	set_up(&st, two_boots);
	CHECK(play(&st, ": 'export jsonl out/all' Enter") &&
		play(&st, "w w w w 3 : 'export jsonl out/seen' Enter") &&
		on_screen(&st, "wrote ") && on_screen(&st, "kernels"));
	all = size_of("out/all");
	seen = size_of("out/seen");
	CHECK(all > 100000 && seen > 100 && seen < all / 2);
	CHECK(play(&st, "9 : 'export jsonl out/again' Enter") && size_of("out/again") == seen);
	CHECK(play(&st, "1 : 'mark 10us 20us' Enter : 'export jsonl out/marks' Enter") &&
		size_of("out/marks") > 100 && size_of("out/marks") != seen);
	CHECK(play(&st, "9 : 'export jsonl out/seen2' Enter") && size_of("out/seen2") == seen);
	strike(&st);
}

/* Progress is measured by rows: each exporter reads all of them. */
static void exporters_report_their_progress(void)
{
	struct stage st;
	uint64_t rows = 0, outside = 0;

	set_up(&st, two_boots);
	for (uint32_t i = 0; i < 2; i++) {
		const struct gt_segment *seg = gt_reader_segment(st.reader, i);

		for (unsigned k = 0; k < GT_KINDS; k++)
			rows += seg->rows[k];
		outside += seg->rows[GT_INSTANT] + seg->rows[GT_COUNTER] + seg->rows[GT_UNMATCHED] +
			seg->rows[GT_LOST];
	}
	for (unsigned i = 0; gt_exporters[i]; i++) {
		_Atomic uint64_t went = 0;
		struct gt_export_options opt = { .rows_done = &went };
		struct gt_out out;
		/* those of stacks leave out what has no duration */
		bool folded =
			strstr("folded flame icicle speedscope pprof dot", gt_exporters[i]->name);

		if (!gt_exporters[i]->export)
			continue;
		CHECK(!gt_out_open(&out, "out/x", true, &st.err));
		CHECK(!gt_exporters[i]->export(st.reader, &opt, &out, &st.err) &&
			!gt_out_close(&out, &st.err));
		CHECK(went == rows - (folded ? outside : 0));
	}
	strike(&st);
}

/* Where a file system knows no files without a name. */
static void an_unfinished_file_with_a_name(void)
{
	int folder;

	CHECK(!system("rm -rf out && mkdir out && echo old > out/there"));
	CHECK((folder = open("out", O_PATH | O_DIRECTORY)) >= 0);
	for (unsigned i = 0; i < 4; i++) {
		struct gt_atomic_file u = { .name = ".x-1" };

		CHECK((u.fd = open("out/.x-1", O_CREAT | O_EXCL | O_RDWR, 0600)) >= 0);
		if (i == 1)
			CHECK(gt_atomic_file_commit(&u, folder, ".x-", "there", false) == -EEXIST &&
				size_of("out/there") == 4);
		if (i == 2)
			CHECK(!gt_atomic_file_commit(&u, folder, ".x-", "new", false) &&
				!access("out/new", F_OK));
		if (i == 3)
			CHECK(!gt_atomic_file_commit(&u, folder, ".x-", "there", true) &&
				size_of("out/there") == 0);
		gt_atomic_file_close(&u, folder);
		CHECK(u.fd < 0 && files_in("out") == (i < 2 ? 1 : 2));
	}
	close(folder);
}

T_MAIN_IN_OWN_FOLDER(T(it_goes_on_in_the_background), T(its_end_waits_for_a_line_of_its_own),
	T(nothing_is_left_of_what_was_stopped), T(a_search_is_stopped_first),
	T(names_are_as_in_a_shell), T(an_existing_file_is_replaced_on_command),
	T(a_full_disk_is_reported), T(every_view_exports_what_is_seen),
	T(exporters_report_their_progress), T(an_unfinished_file_with_a_name))
