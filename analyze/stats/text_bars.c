#include "analyze/stats/text_bars.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "formats/base/numbers.h"

#define FINEST 6u /* 64 steps per power of two: the resolution of a histogram */

bool gt_bars_utf8(void)
{
	static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };

	for (unsigned i = 0; i < 3; i++) {
		const char *value = getenv(names[i]), *set = value ? strchr(value, '.') : NULL;

		if (value && *value)
			return set &&
				(!strncmp(set, ".UTF-8", 6) || !strncmp(set, ".utf8", 5) ||
					!strncmp(set, ".UTF8", 5) || !strncmp(set, ".utf-8", 6));
	}
	return false;
}

/* ---- steps ---- */

static unsigned power_of(uint64_t v) { return 63 - (unsigned)__builtin_clzll(v); }

unsigned gt_bar_step_of(const struct gt_bar_scale *s, uint64_t v)
{
	unsigned power = v ? power_of(v) : 0;

	return v ? 1 + (power << s->cut) + (unsigned)((v - (1ull << power)) >> (power - s->cut))
		 : 0;
}

uint64_t gt_bar_step_low(const struct gt_bar_scale *s, unsigned step)
{
	unsigned power = step ? (step - 1) >> s->cut : 0,
		 within = step ? (step - 1) & ((1u << s->cut) - 1) : 0;

	if (power > 63)
		return UINT64_MAX;
	return step ? (1ull << power) + ((uint64_t)within << (power - s->cut)) : 0;
}

static uint64_t count_of(const struct gt_hist *h, unsigned bucket)
{
	const struct gt_hist_bucket *octave = h->octave[bucket / GT_HIST_OCTAVE];

	return octave ? octave[bucket % GT_HIST_OCTAVE].count : 0;
}

/* The lowest values of the first and last bucket with a value. false: no values. */
static bool ends_of(const struct gt_hist *h, uint64_t *first, uint64_t *last)
{
	bool any = false;

	for (unsigned b = 0; b < GT_HIST_BUCKETS; b++) {
		if (!h->octave[b / GT_HIST_OCTAVE]) {
			b += GT_HIST_OCTAVE - 1;
			continue;
		}
		if (!count_of(h, b))
			continue;
		*last = gt_hist_low(b);
		*first = any ? *first : *last;
		any = true;
	}
	return any;
}

void gt_bar_scale_make(struct gt_bar_scale *s, const struct gt_hist *h, unsigned lines)
{
	uint64_t first = 0, last = 0;

	memset(s, 0, sizeof(*s));
	if (!ends_of(h, &first, &last))
		return;
	s->cut = first ? power_of(first) : 0; /* steps are whole numbers */
	s->cut = s->cut < FINEST ? s->cut : FINEST;
	while (s->cut && gt_bar_step_of(s, last) - gt_bar_step_of(s, first) >= lines)
		s->cut--;
	s->first = gt_bar_step_of(s, first);
	s->n = gt_bar_step_of(s, last) - s->first + 1;
	for (unsigned b = 0; b < GT_HIST_BUCKETS; b++)
		if (count_of(h, b)) {
			uint64_t *to = &s->counts[gt_bar_step_of(s, gt_hist_low(b)) - s->first];

			*to += count_of(h, b);
			s->total += count_of(h, b);
			s->most = *to > s->most ? *to : s->most;
		}
}

/* ---- bars ---- */

void gt_bar(char *to, uint64_t n, uint64_t most, unsigned cells, bool utf8)
{
	static const char *const eighths[] = { "", "▏", "▎", "▍", "▌", "▋", "▊", "▉" };
	unsigned __int128 wide = (unsigned __int128)n * cells * 8 + most / 2;
	unsigned parts = most ? (unsigned)(wide / most) : 0;

	parts = n && !parts ? 1 : parts;
	*to = '\0';
	if (!utf8) {
		unsigned full = (parts + 4) / 8;

		memset(to, '#', full);
		strcpy(to + full, n && !full ? "." : "");
		return;
	}
	for (unsigned i = 0; i < parts / 8; i++, to += 3)
		strcpy(to, "█");
	strcpy(to, eighths[parts % 8]);
}

/* ---- lines ---- */

void gt_spark_scale_add(struct gt_spark_scale *scale, const struct gt_hist *h)
{
	uint64_t first = 0, last = 0;

	if (!ends_of(h, &first, &last))
		return;
	scale->low = scale->any && scale->low < first ? scale->low : first;
	scale->high = scale->any && scale->high > last ? scale->high : last;
	scale->any = true;
}

struct cells {
	struct gt_bar_scale steps;
	unsigned each, n;
}; /* each cell is `each` steps */

static struct cells cells_of(const struct gt_spark_scale *scale)
{
	struct cells c = { .steps.cut = scale->low ? power_of(scale->low) : 0 };
	unsigned span;

	c.steps.cut = c.steps.cut < 3 ? c.steps.cut : 3;
	while (c.steps.cut &&
		gt_bar_step_of(&c.steps, scale->high) - gt_bar_step_of(&c.steps, scale->low) >=
			GT_SPARK_CELLS)
		c.steps.cut--;
	c.steps.first = gt_bar_step_of(&c.steps, scale->low);
	span = gt_bar_step_of(&c.steps, scale->high) - c.steps.first + 1;
	c.each = (span + GT_SPARK_CELLS - 1) / GT_SPARK_CELLS;
	c.n = scale->any ? (span + c.each - 1) / c.each : 0;
	return c;
}

void gt_spark(char text[3 * GT_SPARK_CELLS + 1], const struct gt_spark_scale *scale,
	const struct gt_hist *h, bool utf8)
{
	static const char *const blocks[] = { " ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	static const char *const letters[] = { " ", ".", ":", "-", "=", "+", "*", "#", "@" };
	struct cells c = cells_of(scale);
	uint64_t counts[GT_SPARK_CELLS] = { 0 }, most = 0;

	for (unsigned b = 0; b < GT_HIST_BUCKETS; b++)
		if (count_of(h, b)) {
			uint64_t *to =
				&counts[(gt_bar_step_of(&c.steps, gt_hist_low(b)) - c.steps.first) /
					c.each];

			*to += count_of(h, b);
			most = *to > most ? *to : most;
		}
	*text = '\0';
	for (unsigned i = 0; i < c.n; i++) {
		unsigned height =
			most ? (unsigned)(((unsigned __int128)counts[i] * 8 + most - 1) / most) : 0;

		strcat(text, utf8 ? blocks[height] : letters[height]);
	}
}

void gt_spark_note(struct gt_table *t, const struct gt_spark_scale *scale)
{
	struct cells c = cells_of(scale);
	char from[40], to[40], width[64] = "one bar for each power of two";
	uint64_t end = gt_bar_step_low(&c.steps, c.steps.first + c.n * c.each);

	if (!scale->any)
		return;
	gt_put_scaled(
		from, sizeof(from), GT_C_NS, (int64_t)gt_bar_step_low(&c.steps, c.steps.first));
	gt_put_scaled(to, sizeof(to), GT_C_NS, end > INT64_MAX ? INT64_MAX : (int64_t)end);
	if (c.each > 1 || c.steps.cut)
		snprintf(width, sizeof(width),
			c.each > 1 ? "one bar for each %u powers of two"
				   : "%u bars for each power of two",
			c.each > 1 ? c.each : 1u << c.steps.cut);
	gt_table_note(t,
		"spread: a histogram of %u bar%s from %s to %s, %s; the height of a bar shows the number of rows",
		c.n, gt_plural(c.n, "s"), from, to, width);
}
