/* Commands after a colon, their completion, and bookmarks in their file. */
#define _GNU_SOURCE
#include "tests/unit/own_folder.h"
#include "tests/unit/viewer/view_stage.h"
#include <sys/stat.h>
#include <unistd.h>
#include "viewer/view/bookmarks.h"
#include "viewer/app/ui.h"

/* ---- bookmarks ---- */

#define HEADING "# bookmarks of gtview, 1\n"

static void text_to(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	CHECK(f && fputs(text, f) >= 0 && !fclose(f));
}

static size_t size_of(const char *path)
{
	struct stat s;

	return stat(path, &s) ? 0 : (size_t)s.st_size;
}

static void bookmarks_come_back(void)
{
	struct gt_bookmarks b = { .n = 0 }, again = { .n = 0 };
	struct gt_err err = GT_ERR_INIT;
	size_t strange;

	unlink("t.zst.gtmarks");
	unsetenv("XDG_STATE_HOME");
	unsetenv("HOME");
	CHECK(!gt_bookmarks_load(&b, "t.zst", &strange, &err) && !b.n && !b.path);
	CHECK(!gt_bookmarks_set(&b, "  the slow\tstep ", 1234567, 20, &err) &&
		!gt_bookmarks_set(&b, "first", 5, 3, &err));
	CHECK(!gt_bookmarks_set(&b, "first", 7, 4, &err) && b.n == 2);
	CHECK_EQ(gt_bookmarks_set(&b, "  ", 7, 4, NULL), -EINVAL);
	CHECK(!gt_bookmarks_save(&b, "t.zst", &err) && !strcmp(b.path, "t.zst.gtmarks"));
	CHECK(!gt_bookmarks_load(&again, "t.zst", &strange, &err) && !strange && again.n == 2);
	CHECK(again.list[0].at == 7 && again.list[0].shift == 4 &&
		!strcmp(again.list[1].name, "the slow step") && again.list[1].at == 1234567);
	CHECK(gt_bookmarks_remove(&again, "first") && !gt_bookmarks_remove(&again, "first") &&
		again.n == 1 && !gt_bookmarks_get(&again, "first"));
	gt_bookmarks_release(&b);
	gt_bookmarks_release(&again);
}

static void broken_and_foreign_files(void)
{
	static const struct {
		const char *text;
		int code;
		size_t n, strange;
	} tries[] = {
		{ "", 0, 0, 0 },
		{ "# bookmarks of gtview, 1\n", 0, 0, 0 },
		{ "# bookmarks of gtview, 1\n12 3 a\n", 0, 1, 0 },
		{ "# bookmarks of gtview, 1\nx\n12 3\n12 99 a\n-5 3 b b\n99999999999999999999 1 c\n 4 4 \n1 2 ok",
			0, 2, 5 },
		{ "dear diary\n12 3 a\n", -EILSEQ, 0, 0 },
		{ "# bookmarks of gtview, 2\n12 3 a\n", -EILSEQ, 0, 0 },
	};
	struct stat before, after;

	for (unsigned i = 0; i < sizeof(tries) / sizeof(*tries); i++) {
		struct gt_bookmarks b = { .n = 0 };
		struct gt_err err = GT_ERR_INIT;
		size_t strange;

		text_to("f.gtmarks", tries[i].text);
		CHECK(!stat("f.gtmarks", &before));
		CHECK(gt_bookmarks_load(&b, "f", &strange, &err) == tries[i].code &&
			b.n == tries[i].n && strange == tries[i].strange);
		CHECK(tries[i].code ? gt_bookmarks_save(&b, "f", &err) == -EILSEQ
				    : !gt_bookmarks_save(&b, "f", &err));
		if (tries[i].code || tries[i].n)
			CHECK(!stat("f.gtmarks", &after) &&
				(tries[i].code != 0) == (before.st_ino == after.st_ino));
		else
			CHECK(stat("f.gtmarks", &after) && !b.path);
		gt_bookmarks_release(&b);
	}
	unlink("f.gtmarks");
}

/* No user can write beside the trace: the folder is the kernel's. */
static void they_stand_in_the_users_folder_else(void)
{
	struct gt_bookmarks b = { .n = 0 }, again = { .n = 0 };
	struct gt_err err = GT_ERR_INIT;
	size_t strange;
	char *here = getcwd(NULL, 0), state_home[5000];

	snprintf(state_home, sizeof(state_home), "%s/state", here);
	setenv("XDG_STATE_HOME", state_home, 1);
	CHECK(!gt_bookmarks_set(&b, "here", 5, 3, &err) &&
		!gt_bookmarks_save(&b, "/proc/self/comm", &err));
	CHECK(!strncmp(b.path, state_home, strlen(state_home)));
	CHECK(!gt_bookmarks_load(&again, "/proc/self/comm", &strange, &err) && again.n == 1 &&
		!strcmp(again.path, b.path));
	CHECK(!gt_bookmarks_save(&again, "/proc/self/comm", &err) && !unlink(b.path));
	unsetenv("XDG_STATE_HOME");
	gt_bookmarks_release(&b);
	gt_bookmarks_release(&again);
	free(here);
}

/* ... and no other file is removed: neither the target of a link, nor a file that was changed
 * since it was read. */
static void with_the_last_one_the_file_goes(void)
{
	static const char *const one = HEADING "5 3 a\n", *const two = HEADING "5 3 a\n6 3 b\n";
	struct gt_bookmarks b = { .n = 0 };
	struct gt_err err = GT_ERR_INIT;
	size_t strange;

	text_to("f.gtmarks", one);
	CHECK(!gt_bookmarks_load(&b, "f", &strange, &err) && gt_bookmarks_remove(&b, "a"));
	text_to("f.gtmarks", two);
	CHECK(gt_bookmarks_save(&b, "f", &err) == -ESTALE && size_of("f.gtmarks") == strlen(two) &&
		b.n == 2 && !b.unsaved);
	CHECK(gt_bookmarks_remove(&b, "a") && !gt_bookmarks_save(&b, "f", NULL) &&
		size_of("f.gtmarks") == strlen(one));
	CHECK(gt_bookmarks_remove(&b, "b") && !gt_bookmarks_save(&b, "f", NULL) &&
		access("f.gtmarks", F_OK) && !b.path);
	CHECK(!gt_bookmarks_set(&b, "new", 5, 3, NULL) && !gt_bookmarks_save(&b, "f", NULL) &&
		!strcmp(b.path, "f.gtmarks"));
	CHECK(!unlink("f.gtmarks") && gt_bookmarks_remove(&b, "new") &&
		!gt_bookmarks_save(&b, "f", NULL) && access("f.gtmarks", F_OK));
	gt_bookmarks_release(&b);

	text_to("kept.gtmarks", one);
	unlink("f.gtmarks");
	CHECK(!symlink("kept.gtmarks", "f.gtmarks") &&
		!gt_bookmarks_load(&b, "f", &strange, NULL) && gt_bookmarks_remove(&b, "a"));
	CHECK(!gt_bookmarks_save(&b, "f", NULL) && access("f.gtmarks", F_OK) &&
		size_of("kept.gtmarks") == strlen(one));
	gt_bookmarks_release(&b);
}

/* The user removed the bookmarks next to the trace, which remain there for other users: without
 * a file of the user's own they would come back. */
static void an_own_file_hides_the_other(void)
{
	struct gt_bookmarks b = { .n = 0 };
	char *here = getcwd(NULL, 0), state_home[5000], own[10100], *c;
	size_t strange;

	snprintf(state_home, sizeof(state_home), "%s/home", here);
	setenv("XDG_STATE_HOME", state_home, 1);
	CHECK((!mkdir("home", 0755) || errno == EEXIST) &&
		(!mkdir("home/gt", 0755) || errno == EEXIST));
	c = own + sprintf(own, "%s/gt/", state_home);
	sprintf(c, "%s/f.gtmarks", here);
	for (; *c; c++)
		*c = *c == '/' ? '%' : *c;
	text_to("f", "");
	text_to("f.gtmarks", HEADING "5 3 a\n");
	text_to(own, HEADING "6 3 b\n");
	CHECK(!gt_bookmarks_load(&b, "f", &strange, NULL) && b.n == 1 &&
		gt_bookmarks_remove(&b, "b") && !gt_bookmarks_save(&b, "f", NULL));
	CHECK(size_of(own) == strlen(HEADING));
	gt_bookmarks_release(&b);
	CHECK(!gt_bookmarks_load(&b, "f", &strange, NULL) && !b.n && b.path &&
		!strcmp(b.path, own));
	/* nothing is hidden any more */
	CHECK(!unlink("f.gtmarks") && !gt_bookmarks_save(&b, "f", NULL) && access(own, F_OK));
	gt_bookmarks_release(&b);
	unsetenv("XDG_STATE_HOME");
	free(here);
}

/* ---- commands ---- */

static const char *const once[] = { "b", NULL };

static void set_up(struct stage *st, unsigned seed)
{
	if (!mkdir("some", 0755) || errno == EEXIST)
		unlink("some/trace.zst.gtmarks");
	state = seed;
	stage_up(st, once, 3000, 100, 40);
}

static void commands_do_what_keys_do(void)
{
	struct stage st;
	const struct gt_cell_window *w = &st.s.scene.window;

	set_up(&st, 41);
	CHECK(play(&st, ""));
	CHECK(play(&st, "w w w : 'goto 50us' Enter") &&
		gt_window_column(w, st.s.scene.extent.from + 50000) == w->cells / 2);
	CHECK(play(&st, ": 'go soon' Enter") && on_screen(&st, "invalid time (examples: 1.5s"));
	CHECK(play(&st, ": 'fit' Enter") && gt_window_shows_all(w, &st.s.scene.extent));
	CHECK(play(&st, ": 'filter stream 8' Enter") && on_screen(&st, "stream 8") &&
		line_of(&st, "stream 7") < 0);
	CHECK(play(&st, ": 'filter nothing' Enter") &&
		on_screen(&st, "no lane name contains 'nothing': Esc shows all"));
	CHECK(play(&st, "Esc") && on_screen(&st, "thread 10") && line_of(&st, "no lane name") < 0);
	CHECK(play(&st, ": 'filter' Enter") && on_screen(&st, "thread 10"));
	CHECK(play(&st, ": 'find MemAlloc' Enter") && on_screen(&st, "/MemAlloc  "));
	CHECK(play(&st, ": 'mark 10us 30us' Enter") && on_screen(&st, "A-B 20.00 us"));
	CHECK(play(&st, ": 'mark' Enter") && on_screen(&st, "A ") && line_of(&st, "A-B") < 0);
	CHECK(play(&st, ": Enter") && line_of(&st, "no command") < 0);
	CHECK(play(&st, ": 'view nothing' Enter") && on_screen(&st, "unknown view 'nothing'"));
	CHECK(play(&st, ": 'view fl' Tab") && on_screen(&st, ":view flame"));
	CHECK(play(&st, "Enter") && !strcmp(st.s.view->ops->name, "flame") && play(&st, "1"));
	CHECK(play(&st, ": 'dance' Enter") && on_screen(&st, "unknown command 'dance'"));
	/* three begin so */
	CHECK(play(&st, ": 'f' Enter") && on_screen(&st, "unknown command 'f'"));
	CHECK(play(&st, ": 'goto' Enter") && on_screen(&st, "goto needs an argument: goto TIME"));
	CHECK(play(&st, ": 'fit!' Enter") && on_screen(&st, "fit takes no '!'"));
	CHECK(play(&st, ": 'fit me' Enter") && on_screen(&st, "fit takes no argument: 'me'"));
	CHECK(play(&st, ": 'mark 1us 2us 3us' Enter") && on_screen(&st, "one or two times") &&
		line_of(&st, "A-B") < 0);
	strike(&st);
}

/* In any view: commands of the timeline switch to the timeline, all others stay in the view. */
static void every_view_has_them(void)
{
	static const char *const views[] = { "3", "9", "5" };
	struct stage st;
	const struct gt_cell_window *w = &st.s.scene.window;

	set_up(&st, 45);
	for (unsigned i = 0; i < 3; i++) {
		const struct gt_view *v;
		int64_t first;

		CHECK(play(&st, "r w w w w") && play(&st, views[i]));
		v = st.s.view;
		first = w->from;
		CHECK(play(&st, "* 'from there' Enter r") && st.s.view == v && w->from != first);
		CHECK(play(&st, "@ 'from there' Enter") && st.s.view == st.s.views &&
			w->from == first);
		CHECK(play(&st, views[i]) && play(&st, ": 'goto 50us' Enter") &&
			st.s.view == st.s.views);
		CHECK(gt_window_column(w, st.s.scene.extent.from + 50000) == w->cells / 2);
		CHECK(play(&st, views[i]) && play(&st, ": 'goto 5000s' Enter") && st.s.view == v &&
			on_screen(&st, "this time is outside the trace"));
		CHECK(play(&st, ": 'filter stream 8' Enter") && st.s.view == st.s.views &&
			on_screen(&st, "stream 8") && line_of(&st, "stream 7") < 0);
		CHECK(play(&st, ": 'filter' Enter") && play(&st, views[i]) &&
			play(&st, "F4 'stream 7' Enter") && on_screen(&st, "stream 7"));
		CHECK(play(&st, "Esc") && play(&st, views[i]) && play(&st, ": 'fit' Enter") &&
			st.s.view == v && on_screen(&st, "whole run"));
		CHECK(play(&st, ": 'mark 10us 30us' Enter") && st.s.view == v &&
			st.s.scene.marks.n == 2 && play(&st, "1") &&
			on_screen(&st, "A-B 20.00 us"));
		CHECK(play(&st, "Esc") && play(&st, views[i]) &&
			play(&st, ": 'forget from there' Enter") && !st.s.scene.bookmarks.n);
		CHECK(play(&st, ": 'dance' Enter") && on_screen(&st, "unknown command 'dance'") &&
			play(&st, ": 'view streams' Enter"));
		CHECK(!strcmp(st.s.view->ops->name, "streams") && play(&st, ": 'open' Enter") &&
			st.s.view == st.s.views);
		CHECK(on_screen(&st, "call that had not returned") && play(&st, "Esc Esc"));
	}
	CHECK(play(&st, "4 : 'q' Enter") && st.s.quit);
	strike(&st);
	/* bookmarks are there before the timeline was */
	text_to("some/trace.zst.gtmarks", "# bookmarks of gtview, 1\n20000 3 early\n");
	state = 45;
	stage_up(&st, once, 3000, 100, 40);
	CHECK(play(&st, "3 : 'jump e' Tab Enter") && st.s.view == st.s.views && w->shift == 3);
	strike(&st);
	unlink("some/trace.zst.gtmarks");
}

static void tab_completes(void)
{
	struct stage st;

	set_up(&st, 42);
	CHECK(play(&st, ":") && on_screen(&st, "goto   find   filter   fit"));
	CHECK(play(&st, "'f' Tab") && on_screen(&st, ":f") &&
		on_screen(&st, "find   filter   fit   forget"));
	CHECK(play(&st, "'i' Tab 'l' Tab") && on_screen(&st, ":filter"));
	CHECK(play(&st, "Esc : 'exp' Tab") && on_screen(&st, ":export") &&
		on_screen(&st, "export chrome"));
	CHECK(play(&st, "'ch' Tab") && on_screen(&st, ":export chrome"));
	CHECK(play(&st, "Esc : 'goto 5us' Enter * 'here it is' Enter : 'j' Tab Tab") &&
		on_screen(&st, ":jump here it is"));
	CHECK(play(&st, "Esc"));
	strike(&st);
}

/* One viewer does not discard the bookmarks of the other. */
static void two_viewers_share_them(void)
{
	struct stage a, b;

	set_up(&a, 48);
	state = 48;
	stage_up(&b, once, 3000, 100, 40);
	CHECK(play(&a, "* 'one' Enter") && play(&b, "* 'two' Enter") &&
		play(&a, "* 'three' Enter"));
	CHECK(a.s.scene.bookmarks.n == 3 && play(&b, ": 'jump three' Enter") &&
		line_of(&b, "unknown bookmark") < 0);
	CHECK(play(&b, ": 'forget one' Enter") && b.s.scene.bookmarks.n == 2 &&
		play(&a, ": 'jump one' Enter") && on_screen(&a, "unknown bookmark"));
	CHECK(play(&b, ": 'forget two' Enter : 'forget three' Enter") &&
		access("some/trace.zst.gtmarks", F_OK));
	/* removed bookmarks do not come back */
	CHECK(play(&a, "* 'six' Enter") && a.s.scene.bookmarks.n == 1);
	text_to("some/trace.zst.gtmarks", "dear diary\n"); /* it was not when they began */
	CHECK(play(&a, "* 'four' Enter") && on_screen(&a, "it is not changed") &&
		size_of("some/trace.zst.gtmarks") == 11);
	CHECK(play(&a, "* 'five' Enter : 'jump four' Enter") && a.s.scene.bookmarks.n == 3);
	strike(&a);
	strike(&b);
	unlink("some/trace.zst.gtmarks");
}

/* In any script, and longer than the screen is wide; text that does not fit is not cut to other
 * text. */
static void what_is_typed_is_taken_as_a_whole(void)
{
	struct stage st;
	char keys[1300], end[] = "0123456789";

	set_up(&st, 46);
	unlink("\u6e2c\u5b9a \U0001f600");
	CHECK(play(&st, ": 'export chrome \"\u6e2c\u5b9a \U0001f600\"' Enter") &&
		!access("\u6e2c\u5b9a \U0001f600", F_OK));
	CHECK(play(&st, "* '\u6e2c\u5b9a' Enter * '\u6e2e' Enter : 'ju' Tab Tab") &&
		!strcmp(st.s.typed, "jump ") && play(&st, "'\u6e2c' Tab"));
	CHECK(!strcmp(st.s.typed, "jump \u6e2c\u5b9a ") && play(&st, "Esc"));
	sprintf(keys, ": 'filter %0150d%s'", 0, end);
	CHECK(play(&st, keys) && on_screen(&st, end) && play(&st, "Esc"));
	sprintf(keys, ": 'bookmark %01200d' Enter", 0);
	CHECK(play(&st, keys) && on_screen(&st, "too long: it was ignored") &&
		st.s.scene.bookmarks.n == 2);
	strike(&st);
	unlink("some/trace.zst.gtmarks");
}

/* Regular expressions that would block keys or use all memory are refused. */
static void expressions_have_bounds(void)
{
	static const struct {
		const char *keys, *said;
	} tries[] = {
		{ "/ '(.*)(.*)\\1\\2x' Enter", "back references" },
		{ "/ '((a{255}){255}){255}' Enter", "repeats too much" },
		{ "/ '(a{2,200}){3,99}' Enter", "repeats too much" },
		{ "/ 'a{99999999999999999999}' Enter", "repeats too much" },
		{ "/ '(cu{1,1}){0,50}Mem\\(?' Enter", "/(cu" },
	};
	struct stage st;
	char keys[300];

	set_up(&st, 47);
	for (unsigned i = 0; i < sizeof(tries) / sizeof(*tries); i++)
		CHECK(play(&st, tries[i].keys) && on_screen(&st, tries[i].said));
	sprintf(keys, "/ '%0250d' Enter", 0);
	CHECK(play(&st, keys) && on_screen(&st, "it is too long"));
	strike(&st);
}

static void bookmarks_are_set_and_jumped_to(void)
{
	struct stage st;
	const struct gt_cell_window *w = &st.s.scene.window;
	unsigned shift;
	int64_t first;

	set_up(&st, 43);
	CHECK(play(&st, "w w w w : 'goto 50us' Enter"));
	shift = w->shift;
	first = w->from;
	CHECK(play(&st, "* 'middle' Enter") &&
		on_screen(&st, "saved bookmark 'middle' in some/trace.zst.gtmarks"));
	CHECK(play(&st, "r : 'jump middle' Enter") && w->shift == shift && w->from == first);
	CHECK(play(&st, "resize 120x30 resize 100x40 : 'jump nowhere' Enter") &&
		on_screen(&st, "unknown bookmark"));
	strike(&st);
	state = 43;
	stage_up(&st, once, 3000, 100, 40); /* they were kept */
	CHECK(play(&st, ": 'jump mid' Tab Enter") && w->shift == shift && w->from == first);
	CHECK(play(&st, ": 'forget middle' Enter") && on_screen(&st, "removed bookmark 'middle'") &&
		access("some/trace.zst.gtmarks", F_OK));
	CHECK(play(&st, ": 'jump middle' Enter") && on_screen(&st, "unknown bookmark"));
	strike(&st);
}

static void a_range_is_exported(void)
{
	struct stage st;
	size_t all, some;
	char name[301] = "", keys[400];

	set_up(&st, 44);
	unlink("x.json");
	CHECK(play(&st, ": 'export chrome x.json' Enter") && on_screen(&st, "to x.json"));
	all = size_of("x.json");
	CHECK(play(&st, ": 'export chrome x.json' Enter") &&
		on_screen(&st, "x.json exists: export! replaces it") && size_of("x.json") == all);
	CHECK(play(&st, ": 'export! chrome x.json 10us 20us' Enter") &&
		on_screen(&st, "to x.json"));
	some = size_of("x.json");
	CHECK(all > 10000 && some > 100 && some < all / 4);
	CHECK(play(&st, ": 'mark 10us 20us' Enter : 'export! chrome x.json' Enter") &&
		size_of("x.json") == some);
	CHECK(play(&st, ": 'export tapes x.json' Enter") &&
		on_screen(&st, "unknown format 'tapes'"));
	CHECK(play(&st, ": 'export chrome' Enter") && on_screen(&st, "no file given"));
	CHECK(play(&st, ": 'export chrome -' Enter") && on_screen(&st, "give a file name"));
	CHECK(play(&st, ": 'export chrome y.json 2us 1us' Enter") &&
		on_screen(&st, "invalid range") && !size_of("y.json"));
	CHECK(play(&st, ": 'export chrome no/such/folder' Enter") &&
		on_screen(&st, "cannot write"));
	memset(name, 'z', 300);
	sprintf(keys, ": 'export chrome %s' Enter", name);
	name[NAME_MAX] = 0; /* no file with a similar name */
	CHECK(play(&st, keys) && on_screen(&st, "zzz: File name too long") && access(name, F_OK));
	strike(&st);
}

T_MAIN_IN_OWN_FOLDER(T(bookmarks_come_back), T(broken_and_foreign_files),
	T(they_stand_in_the_users_folder_else), T(with_the_last_one_the_file_goes),
	T(an_own_file_hides_the_other), T(commands_do_what_keys_do), T(every_view_has_them),
	T(tab_completes), T(what_is_typed_is_taken_as_a_whole), T(expressions_have_bounds),
	T(two_viewers_share_them), T(bookmarks_are_set_and_jumped_to), T(a_range_is_exported))
