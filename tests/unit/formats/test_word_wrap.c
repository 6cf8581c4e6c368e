/* Division of a text into lines. */
#include "formats/text/word_wrap.h"

#include <stdint.h>
#include <string.h>
#include "tests/unit/t.h"

static void divides_at_blanks(void)
{
	CHECK_EQ(gt_line_length("one two three four", 18), 18);
	CHECK_EQ(gt_line_length("one two three four", 17), 13);
	CHECK_EQ(gt_line_length("one two three four", 13), 13); /* the blank is not counted */
	CHECK_EQ(gt_line_length("     one two three", 14),
		12); /* indentation is no place to divide */
	CHECK_EQ(gt_line_length("one two three four", SIZE_MAX), 18);
	CHECK_EQ(gt_line_length("", 20), 0);
}

static void ends_at_a_newline(void)
{
	CHECK_EQ(gt_line_length("one\ntwo three four five", 15), 3);
	CHECK_EQ(gt_line_length("one\ntwo", SIZE_MAX), 3);
	CHECK_EQ(gt_line_length("one two\nthree", 0), 7);
}

static void divides_long_words(void)
{
	CHECK_EQ(gt_line_length("/home/user/project/trace", 14), 11);
	CHECK_EQ(gt_line_length("abcdefghijklmnopqrst", 14), 14);
	CHECK_EQ(gt_line_length("##########----------", 14), 20); /* a drawing */
	CHECK_EQ(gt_line_length("one two three four", 12), 18);   /* too narrow for words */
}

/* Two bytes and one column each; three bytes and two columns each. */
static void counts_columns(void)
{
	CHECK_EQ(gt_line_length("äöüäöüäöüä äöüäöü", 15), 20);
	CHECK_EQ(gt_line_length("日本語日本語日本語", 15), 21);
}

T_MAIN(T(divides_at_blanks), T(ends_at_a_newline), T(divides_long_words), T(counts_columns))
