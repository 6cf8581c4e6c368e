#include "formats/export/perfetto/perfetto_manifest.h"

#include <stdlib.h>
#include "formats/io/json_build.h"

#define CLOCK "MONOTONIC"
#define UNKNOWN INT64_MIN

/* The recording by which a file is placed; NULL: the file has none. */
static const struct gt_segment *first_of(const struct gt_perfetto_file *f)
{
	return gt_reader_segments(f->reader) ? gt_reader_segment(f->reader, 0) : NULL;
}

/* The time of day, in ns, at 0 of the file's CLOCK_MONOTONIC; UNKNOWN. */
static int64_t boot_time(const struct gt_perfetto_file *f)
{
	const struct gt_segment *seg = first_of(f);
	int64_t at = UNKNOWN;

	if (!seg || !seg->nanchors ||
		__builtin_sub_overflow(seg->anchors->realtime, seg->anchors->monotonic, &at))
		return UNKNOWN;
	return at;
}

/* The begin of the file on its CLOCK_MONOTONIC. */
static int64_t start_of(const struct gt_perfetto_file *f)
{
	const struct gt_segment *seg = first_of(f);

	return seg && seg->min_start > 0 && seg->min_start <= seg->max_end ? seg->min_start : 0;
}

/* The file whose clock is the timeline. */
static size_t find_reference(const struct gt_perfetto_file *files, size_t n)
{
	size_t best = 0;

	for (size_t i = 1; i < n; i++) {
		int64_t at = boot_time(&files[i]), least = boot_time(&files[best]);

		if (at != UNKNOWN && (least == UNKNOWN || at < least))
			best = i;
	}
	return best;
}

static bool same_clock(const struct gt_perfetto_file *a, const struct gt_perfetto_file *b)
{
	const struct gt_segment *x = first_of(a), *y = first_of(b);

	return x && y && gt_same_clock(x, y);
}

static json_t *relation(const struct gt_perfetto_file *to, int64_t offset)
{
	return json_pack("{s:s, s:{s:s, s:s}, s:I}", "clock", CLOCK, "sync_to", "file", to->name,
		"clock", CLOCK, "offset_ns", (json_int_t)offset);
}

/* How the clock of file i relates to that of another one; NULL: it is the reference, or Perfetto
 * relates it by the time of day. */
static json_t *clocks_of(struct gt_perfetto_file *files, size_t n, size_t i, size_t reference)
{
	if (i == reference)
		return NULL;
	if (same_clock(&files[i], &files[reference]))
		return relation(&files[reference], 0);
	for (size_t k = 0; k < n && k < i; k++)
		if (same_clock(&files[i], &files[k]))
			return relation(&files[k], 0);
	files[i].unplaced =
		boot_time(&files[i]) == UNKNOWN || boot_time(&files[reference]) == UNKNOWN;
	return files[i].unplaced
		? relation(&files[reference], start_of(&files[reference]) - start_of(&files[i]))
		: NULL;
}

char *gt_perfetto_manifest(struct gt_perfetto_file *files, size_t n)
{
	const size_t reference = find_reference(files, n);
	json_t *list = json_array();

	for (size_t i = 0; i < n; i++) {
		json_t *one = json_object(), *machine = json_object(),
		       *clocks = clocks_of(files, n, i, reference);

		json_object_set_new(one, "path", json_string(files[i].name));
		json_object_set_new(
			machine, "name", gt_json_text(files[i].machine, strlen(files[i].machine)));
		json_object_set_new(one, "machine", machine);
		if (clocks)
			json_object_set_new(one, "clocks", clocks);
		json_array_append_new(list, one);
	}
	return gt_json_finish(json_pack("{s:{s:i, s:{s:s, s:s}, s:o}}", "perfetto_manifest",
		"version", 1, "trace_time", "clock", CLOCK, "file", n ? files[reference].name : "",
		"files", list));
}
