#include "viewer/util/number_text.h"

#include <stdio.h>

struct gt_scaled gt_number_text(enum gt_cell_kind kind, uint64_t value)
{
	return gt_scaled(kind, value > INT64_MAX ? INT64_MAX : (int64_t)value);
}

const char *gt_number_text_rate(char to[GT_NUMBER_TEXT], uint64_t bytes, uint64_t ns)
{
	static const char *const units[] = { "B/s", "kB/s", "MB/s", "GB/s", "TB/s", "PB/s", "EB/s",
		NULL };
	double v = (double)bytes * 1e9 / (double)(ns ? ns : 1);
	unsigned u = 0;

	for (; units[u + 1] && v >= 999.95; u++)
		v /= 1000;
	snprintf(to, GT_NUMBER_TEXT, "%.*f %s",
		!u && v == (double)(int)v ? 0
			: v < 9.9995      ? 3
			: v < 99.995      ? 2
					  : 1,
		v, units[u]);
	return to;
}

void gt_brief_share(char to[GT_BRIEF], uint64_t part, uint64_t whole)
{
	double percent = whole ? 100.0 * (double)part / (double)whole : 0;

	if (!part || part >= whole)
		snprintf(to, GT_BRIEF, part ? "100%%" : "0%%");
	else if (percent < 0.05)
		snprintf(to, GT_BRIEF, "<0.1%%");
	else
		snprintf(to, GT_BRIEF, "%.1f%%", percent > 99.9 ? 99.9 : percent);
}

/* At most three digits and a unit, or four digits without a unit. */
static void brief(char to[GT_BRIEF], uint64_t value, double thousand, const char *const *units)
{
	double v = (double)value;
	unsigned u = 0;

	for (; units[u + 1] && v >= (u || units[0][0] ? 999.5 : 9999.5); u++)
		v /= thousand;
	snprintf(to, GT_BRIEF,
		v < 9.95 && u         ? "%.1f%s"
			: v < 99999.5 ? "%.0f%s"
				      : ">99999",
		v, units[u]);
}

void gt_brief_count(char to[GT_BRIEF], uint64_t n)
{
	static const char *const units[] = { "", "k", "M", "G", "T", "P", "E", NULL };

	brief(to, n, 1000, units);
}

void gt_brief_ns(char to[GT_BRIEF], uint64_t ns)
{
	static const char *const units[] = { "ns", "us", "ms", "s", "ks", "Ms", "Gs", NULL };

	brief(to, ns, 1000, units);
}

void gt_brief_value(char to[GT_BRIEF], double value)
{
	static const char *const units[] = { "", "k", "M", "G", "T", "P", "E", NULL };
	double v = value < 0 ? -value : value;
	unsigned u = 0;

	for (; units[u + 1] && v >= 999.5; u++)
		v /= 1000;
	if (!(v < 9999.5))
		snprintf(to, GT_BRIEF, "%s", value < 0 ? "<-1E" : ">1E");
	else
		snprintf(to, GT_BRIEF, v < 9.95 && v != (double)(int)v ? "%s%.1f%s" : "%s%.0f%s",
			value < 0 ? "-" : "", v, units[u]);
}

void gt_brief_bytes(char to[GT_BRIEF], uint64_t bytes)
{
	static const char *const units[] = { "B", "K", "M", "G", "T", "P", "E", NULL };

	brief(to, bytes, 1024, units);
}
