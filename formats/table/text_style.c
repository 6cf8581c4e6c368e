#include "formats/table/text_style.h"

#include "formats/io/stream_out.h"

/* SGR parameters (ESC [ ... m); only the eight colours that every terminal has. */
static const char *const codes[GT_TONES] = {
	[GT_TONE_HEADING] = "1",
	[GT_TONE_NOTE] = "2",
	[GT_TONE_GOOD] = "32",
	[GT_TONE_DOUBT] = "33",
	[GT_TONE_BAD] = "31",
	[GT_TONE_COMPUTE] = "32",
	[GT_TONE_COMMUNICATION] = "35",
	[GT_TONE_COPY] = "36",
	[GT_TONE_IDLE] = "33",
};

static enum gt_tone of_mark(char mark)
{
	switch (mark) {
	case GT_MARK_COMPUTE: return GT_TONE_COMPUTE;
	case GT_MARK_COMMUNICATION: return GT_TONE_COMMUNICATION;
	case GT_MARK_COPY: return GT_TONE_COPY;
	default: return mark == GT_MARK_IDLE ? GT_TONE_IDLE : GT_TONE_NONE;
	}
}

static void put_one(struct gt_out *out, enum gt_tone tone, const char *s, size_t n)
{
	const char *code = out->colours && n ? codes[tone] : NULL;

	if (code) {
		gt_out_str(out, "\x1b[");
		gt_out_str(out, code);
		gt_out_str(out, "m");
	}
	gt_out_add(out, s, n);
	if (code)
		gt_out_str(out, "\x1b[0m");
}

void gt_put_toned(struct gt_out *out, enum gt_tone tone, const char *s, size_t n)
{
	if (tone != GT_TONE_MARKS) {
		put_one(out, tone, s, n);
		return;
	}
	for (size_t from = 0, to; from < n; from = to) {
		for (to = from + 1; to < n && s[to] == s[from];)
			to++;
		put_one(out, of_mark(s[from]), s + from, to - from);
	}
}
