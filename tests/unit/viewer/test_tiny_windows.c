/* Windows of 1 to 12 columns and lines: marks, a selection, panes, searches, prompts, and keys in
 * any order. A sanitized build detects reads and writes outside the screen. In the smallest window
 * q quits. */
#define _GNU_SOURCE
#include "tests/unit/own_folder.h"
#include "tests/unit/viewer/key_script.h"
#include "tests/unit/viewer/view_program.h"
#include "viewer/app/ui.h"

static void press(struct gt_ui *s, const char *keys)
{
	struct key_script script = { .at = keys };
	struct gt_err err = GT_ERR_INIT;
	struct gt_key k;

	while (key_script_next(&script, &k) > 0)
		CHECK(gt_ui_key(s, k, &err) >= 0 && gt_ui_step(s, 500, &err) >= 0);
}

static struct gt_key any_key(void)
{
	struct key_script script = { .at = gt_bindings[below((uint32_t)gt_nbindings)].keys };
	struct gt_key k = { .key = GT_KEY_ENTER };

	if (script.at)
		key_script_next(&script, &k);
	k.x = (uint16_t)below(14);
	k.y = (uint16_t)below(14);
	return k;
}

static void look_at_size(struct gt_ui *s, unsigned width, unsigned height, struct gt_screen *one)
{
	static const char *const states[] = { "m Right Right m", "Enter i", "i", "M", "v", "+ m",
		"9", "1 / k e", "Enter n", ": e x", "Esc \\ z", "Esc * a Enter", "?", "Esc q" };
	struct gt_err err = GT_ERR_INIT;

	CHECK(!gt_ui_resize(s, 80, 24, &err));
	gt_marks_clear(&s->scene.marks);
	gt_marks_set(&s->scene.marks, s->scene.extent.from);
	gt_marks_set(&s->scene.marks, s->scene.extent.to - 1);
	CHECK(!gt_ui_resize(s, width, height, &err));
	gt_ui_draw(s, one);
	for (unsigned i = 0; i < sizeof(states) / sizeof(*states); i++) {
		press(s, states[i]);
		gt_ui_draw(s, one);
		CHECK(one->width == width && one->height == height);
	}
	CHECK(s->quit);
	for (unsigned i = 0; i < 20; i++) {
		CHECK(gt_ui_key(s, any_key(), &err) >= 0 && gt_ui_step(s, 100, &err) >= 0);
		s->quit = false;
		gt_ui_draw(s, one);
	}
	/* a prompt or list that cannot be read takes no key */
	press(s, width < 10 ? "q" : "Esc Esc q");
	CHECK(s->quit);
	s->quit = false;
}

static void any_size_can_be_drawn(void)
{
	struct gt_err err = GT_ERR_INIT;
	int fd = temp_file(), keep = dup(fd);
	struct gt_reader *r;

	state = 7;
	range_name = "range";
	contexts = 1;
	make(fd, "boot", 5, 60);
	CHECK((r = gt_reader_open_fd(keep, &err)));
	for (const struct gt_view_ops *const *v = gt_views; *v; v++) {
		struct gt_screen one = { .ascii = false };
		struct gt_ui s;

		CHECK(!gt_ui_open(&s, r, "a.zst", *v, &err));
		for (unsigned i = 0; i < 144; i += v == gt_views ? 1 : 7)
			look_at_size(&s, i % 12 + 1, i / 12 + 1, &one);
		CHECK(gt_ui_resize(&s, 80, 24, &err) >= 0);
		gt_ui_close(&s);
		gt_screen_release(&one);
	}
	gt_reader_close(r);
}

T_MAIN_IN_OWN_FOLDER(T(any_size_can_be_drawn))
