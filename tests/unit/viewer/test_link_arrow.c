/* The arrow from a call to its GPU work: each direction, and where there is no space for it. */
#include "tests/unit/t.h"
#include "tests/unit/viewer/screen_lines.h"
#include "viewer/timeline/link_arrow.h"

static struct gt_screen screen;

static bool draws(struct gt_link_arrow a, const char *wanted)
{
	char have[6 * 4100] = "";

	gt_screen_clear(&screen);
	gt_link_arrow_draw(&a, &screen);
	for (int y = 0; y < 6; y++)
		snprintf(have + strlen(have), sizeof(have) - strlen(have), "%s|",
			line_of_screen(&screen, y));
	if (strcmp(have, wanted))
		printf("# '%s', not '%s'\n", have, wanted);
	return !strcmp(have, wanted);
}

static void arrows(void)
{
	CHECK(!gt_screen_resize(&screen, 10, 6));
	CHECK(draws((struct gt_link_arrow){ 2, 5, 2, 0 }, "|  ▲|  │|  │|  │||"));
	CHECK(draws((struct gt_link_arrow){ 2, 0, 2, 5 }, "|  │|  │|  │|  ▼||"));
	CHECK(draws((struct gt_link_arrow){ 1, 5, 6, 0 }, "|      ▲| ╭────╯| │| │||"));
	CHECK(draws((struct gt_link_arrow){ 6, 5, 1, 0 }, "| ▲| ╰────╮|      │|      │||"));
	CHECK(draws((struct gt_link_arrow){ 1, 0, 6, 5 }, "| │| │| ╰────╮|      ▼||"));
	CHECK(draws((struct gt_link_arrow){ 6, 0, 1, 5 }, "|      │|      │| ╭────╯| ▼||"));
	CHECK(draws((struct gt_link_arrow){ 1, 3, 6, 0 }, "|      ▲| ╭────╯||||"));
	CHECK(draws((struct gt_link_arrow){ 1, 2, 6, 1 }, "||||||"));
	gt_screen_release(&screen);
}

static void in_ascii(void)
{
	screen.ascii = true;
	CHECK(!gt_screen_resize(&screen, 10, 6));
	CHECK(draws((struct gt_link_arrow){ 1, 5, 6, 0 }, "|      ^| +----+| || |||"));
	gt_screen_release(&screen);
}

T_MAIN(T(arrows), T(in_ascii))
