/* The table of keys: every word in it is a key that leads back to its row, and no key has two. */
#define _GNU_SOURCE
#include "tests/unit/t.h"
#include "tests/unit/viewer/key_script.h"
#include "viewer/view/bindings.h"

/* A word as in a script: for the mouse a position follows. */
static bool key_of(const char *word, size_t n, struct gt_key *k)
{
	char script[64];
	struct key_script s = { .at = script };
	bool mouse = n >= 4 &&
		(memmem(word, n, "press", 5) || memmem(word, n, "wheel", 5) ||
			!strncmp(word, "drag", 4) || !strncmp(word, "release", 7));

	snprintf(script, sizeof(script), "%.*s%s", (int)n, word, mouse ? " 3,4" : "");
	return key_script_next(&s, k) == 1 && !*s.at;
}

static void each_word_is_a_key_of_its_row(void)
{
	for (size_t i = 0; i < gt_nbindings; i++) {
		const struct gt_binding *b = &gt_bindings[i];

		for (const char *w = b->keys; w && *w; w += strspn(w, " ")) {
			size_t n = strcspn(w, " ");
			struct gt_key k;

			if (!key_of(w, n, &k))
				printf("'%.*s' is no key\n", (int)n, w);
			CHECK(key_of(w, n, &k));
			if (gt_binding_of(k) != b)
				printf("'%.*s' leads elsewhere\n", (int)n, w);
			CHECK(gt_binding_of(k) == b);
			w += n;
		}
	}
}

static void rows_are_complete(void)
{
	CHECK(gt_nbindings && !gt_bindings[0].keys);
	for (size_t i = 0; i < gt_nbindings; i++) {
		const struct gt_binding *b = &gt_bindings[i];

		CHECK(b->keys ? b->action != GT_DO_NOTHING : b->action == GT_DO_NOTHING && b->help);
		/* in the help line of the key before it */
		CHECK(b->help || gt_bindings[i - 1].keys);
	}
}

static void other_keys_have_none(void)
{
	CHECK(!gt_binding_of((struct gt_key){ .key = GT_KEY_NONE }));
	CHECK(!gt_binding_of((struct gt_key){ .key = 0x4e2d }));
	CHECK(!gt_binding_of((struct gt_key){ .key = 'q', .modifiers = GT_MOD_ALT }));
	CHECK(!gt_binding_of((struct gt_key){ .key = GT_KEY_HANGUP }));
	CHECK_EQ(gt_binding_of((struct gt_key){ .key = ' ' })->action, GT_DO_FOLD);
}

static void help_tells_each_and_fits_80_columns(void)
{
	struct gt_buf text = { .len = 0 };
	unsigned lines = 0;

	gt_bindings_text(&text);
	CHECK(!text.failed && text.len && !text.data[text.len - 1]);
	for (char *at = (char *)text.data, *end; *at; at = end + 1, lines++) {
		end = strchr(at, '\n');
		CHECK(end && end - at < 80);
	}
	for (size_t i = 0; i < gt_nbindings; i++)
		CHECK(!gt_bindings[i].help || strstr((char *)text.data, gt_bindings[i].help));
	CHECK(strstr((char *)text.data, "  h Left / l Right "));
	CHECK(strstr((char *)text.data, "  click "));
	CHECK(!strstr((char *)text.data, "release"));
	gt_buf_release(&text);
}

T_MAIN(T(each_word_is_a_key_of_its_row), T(rows_are_complete), T(other_keys_have_none),
	T(help_tells_each_and_fits_80_columns))
