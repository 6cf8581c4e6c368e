/* Ten thousand random keys on random traces: no crash, no leak, each frame contains only
 * characters that a terminal can show, and cells that were exact after all work was done are
 * drawn the same again. */
#define _GNU_SOURCE
#include "tests/unit/own_folder.h"
#include "tests/unit/viewer/key_script.h"
#include "tests/unit/viewer/view_program.h"
#include "viewer/term/glyphs.h"
#include "viewer/app/ui.h"

#define KEYS 2500u /* for each of four traces */

/* Sometimes any character; mostly a key that has a meaning, from the table. */
static struct gt_key random_key(void)
{
	static const char *const tricks[] = { "drag 3,4", "release 30,4", "click 50,5",
		"double 20,6", "wheel-up 40,9", "wheel-down 41,3", "Esc" };
	const struct gt_binding *b = &gt_bindings[below((uint32_t)gt_nbindings)];
	const char *at = below(8) ? b->keys : tricks[below(sizeof(tricks) / sizeof(tricks[0]))];
	static const uint32_t others[] = { 0x5b66, 0x1f680, 0x301, 0xac00, 0x202e, 0x5d0 };
	struct gt_key k = { .key = below(4) ? 33 + below(200)
					    : others[below(sizeof(others) / sizeof(others[0]))] },
		      one;
	struct key_script script = { 0 };

	if (!at || !below(10))
		return k;
	script.at = at;
	for (unsigned n = 0; key_script_next(&script, &one) > 0; n++)
		if (!n || !below(2))
			k = one;
	k.x = (uint16_t)below(130);
	k.y = (uint16_t)below(50);
	return k;
}

static struct gt_key random_size(void)
{
	if (!below(5))
		return (struct gt_key){ .key = GT_KEY_RESIZE,
			.x = (uint16_t)(1 + below(400)),
			.y = (uint16_t)(1 + below(120)) };
	return (struct gt_key){ .key = GT_KEY_RESIZE,
		.x = (uint16_t)(40 + below(100)),
		.y = (uint16_t)(10 + below(40)) };
}

static void look_at(const struct gt_screen *s, bool ascii)
{
	for (size_t i = 0; i < (size_t)s->width * s->height; i++) {
		const struct gt_spot *spot = &s->spots[i];
		bool wide = gt_glyph_columns(spot->ch) == 2;

		CHECK(!ascii || (spot->ch >= ' ' && spot->ch < 127 && !spot->marks[0]));
		CHECK(gt_glyph_columns(spot->ch) ||
			(spot->ch == GT_RIGHT_HALF && i % s->width &&
				gt_glyph_columns(spot[-1].ch) == 2));
		CHECK(!wide ||
			((i + 1) % s->width && spot[1].ch == GT_RIGHT_HALF &&
				!memcmp(&spot[1].look, &spot->look, sizeof(spot->look))));
		for (unsigned k = 0; k < GT_LETTER_MARKS; k++)
			CHECK(!spot->marks[k] || !gt_utf8_columns(spot->marks[k]));
		CHECK(s->spots[i].look.ink < GT_INKS && s->spots[i].look.paper < GT_INKS);
	}
}

/* Drawing changes no state: two frames without an action in between are equal. */
static void draw_twice(const struct gt_ui *s, struct gt_screen *a, struct gt_screen *b)
{
	gt_ui_draw(s, a);
	gt_ui_draw(s, b);
	CHECK(a->width == b->width && a->height == b->height);
	CHECK(!memcmp(a->spots, b->spots, (size_t)a->width * a->height * sizeof(*a->spots)));
}

static void press_keys(struct gt_reader *r, const struct gt_view_ops *view)
{
	struct gt_err err = GT_ERR_INIT;
	struct gt_screen one = { .ascii = below(2) }, two = { .ascii = one.ascii };
	struct gt_ui s;

	CHECK(!gt_ui_open(&s, r, "a name\x1b[2J\xff 軌跡.zst", view, &err) &&
		!gt_ui_resize(&s, 80, 24, &err));
	for (unsigned i = 0; i < T_INPUTS(KEYS); i++) {
		struct gt_key k = below(40) ? random_key() : random_size();

		CHECK(gt_ui_key(&s, k, &err) >= 0);
		s.quit = false;
		if (below(3))
			CHECK(gt_ui_step(&s, below(20) ? 200 : 0, &err) >= 0);
		if (below(4))
			continue;
		draw_twice(&s, &one, &two);
		look_at(&one, one.ascii);
	}
	gt_ui_close(&s);
	gt_screen_release(&one);
	gt_screen_release(&two);
}

static void any_keys_on_any_trace(void)
{
	for (unsigned i = 0; i < 4; i++) {
		struct gt_err err = GT_ERR_INIT;
		int fd = temp_file(), keep = dup(fd);
		struct gt_reader *r;

		state = 100 + i;
		range_name = i % 2 ? "学習 e\u0301poch 🚀 가 \u202e" : "range";
		contexts = (i + 2) % 3;
		make(fd, "boot", i % 2 ? 1000000000000ll : -70000,
			(unsigned[]){ 0, 5, 600, 6000 }[i] + 6);
		CHECK((r = gt_reader_open_fd(keep, &err)));
		for (const struct gt_view_ops *const *v = gt_views; *v; v++)
			press_keys(r, *v);
		gt_reader_close(r);
	}
}

T_MAIN_IN_OWN_FOLDER(T(any_keys_on_any_trace))
