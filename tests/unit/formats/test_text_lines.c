/* Lines of text from a stream. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "formats/io/stream_in.h"
#include "formats/io/text_lines.h"
#include "tests/unit/t.h"

static struct gt_err err;
static char seen[256];

static int see(void *arg, char *line, size_t len, struct gt_err *e)
{
	if (arg && !strcmp(line, arg))
		return gt_err_set(e, -EBADMSG, "this line");
	snprintf(seen + strlen(seen), sizeof(seen) - strlen(seen), "%s|", line);
	memset(line, 'x', len); /* the line may be changed */
	return 0;
}

static int read_all(const char *text, const char *wrong, bool *cut)
{
	struct gt_in *in = gt_in_memory(text, strlen(text), NULL);
	int rc;

	err = (struct gt_err)GT_ERR_INIT;
	*seen = 0;
	*cut = false;
	rc = gt_text_each_line(in, see, (void *)wrong, cut, &err);
	gt_in_close(in);
	return rc;
}

static void each_line(void)
{
	bool cut;

	CHECK_EQ(read_all("a\n\nbc\r\n", NULL, &cut), 0);
	CHECK_STR(seen, "a||bc|");
	CHECK(!cut);
	CHECK_EQ(read_all("a\nb", NULL, &cut), 0);
	CHECK_STR(seen, "a|b|");
	CHECK(cut);
	CHECK_EQ(read_all("", NULL, &cut), 0);
	CHECK(!cut && !*seen);
}

static void an_error_has_the_offset_of_its_line(void)
{
	bool cut;

	CHECK_EQ(read_all("first\nsecond\nthird\nfourth", "third", &cut), -EBADMSG);
	CHECK_EQ(err.offset, 13);
	CHECK_STR(seen, "first|second|");
	CHECK_EQ(read_all("first\nlast", "last", &cut), -EBADMSG);
	CHECK_EQ(err.offset, 6);
	CHECK(!cut);
}

/* The rest of a line that is too long is dropped, and the next one is whole. */
static void long_lines(void)
{
	size_t len = 3 * GT_TEXT_LINE_MAX, n;
	char *text = malloc(len + 3), *line;
	struct gt_text_lines l;
	struct gt_in *in;

	memset(text, 'a', len);
	strcpy(text + len, "\nb");
	in = gt_in_memory(text, len + 2, NULL);
	CHECK_EQ(gt_text_lines_init(&l, in, NULL), 0);
	CHECK_EQ(gt_text_lines_next(&l, &line, &n, NULL), 1);
	CHECK_EQ(n, GT_TEXT_LINE_MAX);
	CHECK_EQ(gt_text_lines_next(&l, &line, &n, NULL), 1);
	CHECK_STR(line, "b");
	CHECK_EQ(l.offset, len + 1);
	CHECK_EQ(l.number, 2);
	CHECK_EQ(gt_text_lines_next(&l, &line, &n, NULL), 0);
	gt_text_lines_release(&l);
	gt_in_close(in);
	free(text);
}

static int third(const char *line, void *arg) { return ++*(int *)arg == 3 ? *line : 0; }

static void first_lines(void)
{
	int n = 0;

	CHECK_EQ(gt_text_first_lines("a\nb\nc\nd\n", 8, 9, third, &n), 'c');
	n = 0;
	CHECK_EQ(gt_text_first_lines("a\nb\nc\nd\n", 8, 2, third, &n), 0);
	CHECK_EQ(n, 2);
}

static void numbers(void)
{
	const char *after;
	uint64_t v;

	CHECK(gt_text_number("corr=7 x", "corr=", &v, &after) && v == 7);
	CHECK_STR(after, " x");
	CHECK(!gt_text_number("corr=-7", "corr=", &v, NULL));
	CHECK(!gt_text_number("99999999999999999999", "", &v, NULL));
	CHECK_EQ(gt_text_lost_events("Lost 42 events"), 42);
	CHECK_EQ(gt_text_lost_events("Lost 42 things"), 0);
}

T_MAIN(T(each_line), T(an_error_has_the_offset_of_its_line), T(long_lines), T(first_lines),
	T(numbers))
