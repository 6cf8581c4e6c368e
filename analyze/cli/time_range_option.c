/* Printed times, --from and --to count from the earliest start of all recordings that share a
 * clock. So ranks of one machine share one time axis; those of another machine have their own,
 * because times of different clocks cannot be compared. */
#include "analyze/cli/time_range_option.h"

#include <stdlib.h>
#include <string.h>
#include "analyze/core/report.h"
#include "formats/base/sorted.h"
#include "formats/cmdline/opt.h"

int gt_read_time(const char *text, int64_t *ns, struct gt_err *err)
{
	if (text && gt_parse_ns(text, ns))
		return gt_err_set(err, -EINVAL,
			"invalid time '%s' (examples: 1.5s, 250ms, 10us, 80ns)", text);
	return 0;
}

static int by_clock(const void *pa, const void *pb)
{
	const struct gt_segment *a = *(const struct gt_segment *const *)pa,
				*b = *(const struct gt_segment *const *)pb;

	return strcmp(a->boot_id ? a->boot_id : "", b->boot_id ? b->boot_id : "") ?:
		GT_COMPARE(a->min_start, b->min_start) ?:
		GT_COMPARE(a->index, b->index);
}

static int find_origins(struct gt_time_ranges *a, struct gt_reader *r)
{
	uint32_t n = gt_reader_segments(r);
	const struct gt_segment **list = calloc(n + 1ul, sizeof(*list));

	a->origins = calloc(n + 1ul, sizeof(*a->origins));
	for (uint32_t i = 0; list && i < n; i++)
		list[i] = gt_reader_segment(r, i);
	if (list)
		GT_SORT(list, n, by_clock);
	for (uint32_t i = 0; list && a->origins && i < n; i++)
		a->origins[list[i]->index] = i && gt_same_clock(list[i - 1], list[i])
			? a->origins[list[i - 1]->index]
			: list[i]->min_start;
	free(list);
	return list && a->origins ? 0 : -ENOMEM;
}

static struct gt_range range_behind(int64_t origin, const char *from, const char *to)
{
	struct gt_range r = { INT64_MIN, INT64_MAX };
	int64_t ns = 0;

	if (from && !gt_parse_ns(from, &ns) && __builtin_add_overflow(origin, ns, &r.from))
		r.from = INT64_MAX;
	if (to && !gt_parse_ns(to, &ns) && __builtin_add_overflow(origin, ns, &r.to))
		r.to = INT64_MAX;
	return r;
}

static int find_ranges(struct gt_time_ranges *a, uint32_t n, const char *from, const char *to)
{
	a->ranges = calloc(n + 1ul, sizeof(*a->ranges));
	for (uint32_t i = 0; a->ranges && i < n; i++)
		a->ranges[i] = range_behind(a->origins[i], from, to);
	return a->ranges ? 0 : -ENOMEM;
}

int gt_time_ranges_set(struct gt_time_ranges *a, struct gt_analysis_options *o, struct gt_reader *r,
	const char *from, const char *to, const int64_t *as, struct gt_err *err)
{
	uint32_t n = gt_reader_segments(r);
	int rc;

	*a = (struct gt_time_ranges){ .ranges = NULL };
	rc = find_origins(a, r);
	if (!rc && as)
		memcpy(a->origins, as, n * sizeof(*as));
	if (!rc && (from || to))
		rc = find_ranges(a, n, from, to);
	if (rc)
		return gt_err_set(err, rc, "out of memory (times of %u recordings)", n);
	o->origins = a->origins;
	o->origin = n ? a->origins[0] : 0;
	o->filter.ranged = a->ranges;
	o->filter.from = a->ranges && n ? a->ranges[0].from : INT64_MIN;
	o->filter.to = a->ranges && n ? a->ranges[0].to : INT64_MAX;
	o->filter.ranges = n > 1 ? a->ranges : NULL;
	return 0;
}

void gt_time_ranges_release(struct gt_time_ranges *a)
{
	free(a->origins);
	free(a->ranges);
}
