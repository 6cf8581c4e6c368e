/* The text of the progress line; and that the line is absent where it would disturb. */
#include <string.h>
#include "formats/base/progress.h"
#include "formats/cmdline/progress_line.h"
#include "tests/unit/t.h"

#define S 1000000000ll

static const char *text(uint64_t done, uint64_t total, int64_t ns)
{
	static char line[200];

	gt_progress_text(line, sizeof(line), "reading", "train.zst", done, total, ns);
	return line;
}

static void texts(void)
{
	CHECK_STR(text(420000000, 1000000000, S), "reading train.zst: 42 %, 420 MB/s, 1 s left");
	CHECK_STR(
		text(420000000, 1000000000, 2 * S), "reading train.zst: 42 %, 210 MB/s, 3 s left");
	CHECK_STR(text(9000000, 1000000000, S), "reading train.zst: 0 %, 9.0 MB/s, 2 min left");
	CHECK_STR(text(100000, 1000000000, S), "reading train.zst: 0 %, 100 kB/s, 2.8 h left");
	CHECK_STR(text(5000000000, 50000000000, S), "reading train.zst: 10 %, 5.0 GB/s, 9 s left");
	CHECK_STR(text(0, 1000, S), "reading train.zst: 0 %, 0.0 kB/s");
	CHECK_STR(text(1000, 1000, S), "reading train.zst: 100 %, 1.0 kB/s");
	/* a file that grows */
	CHECK_STR(text(2000, 1000, S), "reading train.zst: 100 %, 2.0 kB/s");
	/* a pipe */
	CHECK_STR(text(310000000, 0, 2 * S), "reading train.zst: 310.0 MB, 155 MB/s");
	CHECK_STR(text(310000000, 0, 0), "reading train.zst: 310.0 MB, 0.0 kB/s");
}

static void begins(const char *activity, uint64_t bytes) {}
static uint64_t added;
static void adds(uint64_t bytes) { added += bytes; }

static void sinks(void)
{
	static const struct gt_progress_sink sink = { begins, adds };

	gt_progress_add(5); /* without a sink it does nothing */
	gt_progress_line_start("x", false);
	CHECK(!gt_progress_is_wanted());
	gt_progress_line_stop();
	gt_progress_sink = &sink;
	gt_progress_begin("reading", 7);
	gt_progress_add(7);
	gt_progress_sink = NULL;
	CHECK_EQ(added, 7);
}

T_MAIN(T(texts), T(sinks))
