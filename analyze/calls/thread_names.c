#include "analyze/calls/thread_names.h"

#include <stdio.h>
#include "formats/trace/meta.h"

#define NAMES (1u << 18) /* further threads have no name */

struct known_name {
	uint32_t segment, unused;
	uint64_t pid, tid; /* tid 0: of the process; the key ends here */
	char text[104];
};
struct segment_names {
	struct gt_thread_names *n;
	uint32_t segment;
};

/* NULL: there are more than NAMES, or there is no memory. */
static struct known_name *find(
	struct gt_thread_names *n, uint32_t segment, uint64_t pid, uint64_t tid)
{
	const struct known_name key = { .segment = segment, .pid = pid, .tid = tid };
	struct gt_err ignored = { 0 };
	uint32_t i = gt_group_table_find(&n->list, &key, &ignored);
	struct known_name *one = i == GT_GROUP_TABLE_NONE ? NULL : gt_group_table_at(&n->list, i);

	return one && !gt_group_table_is_rest(&n->list, one) ? one : NULL;
}

static void set(const struct segment_names *s, uint64_t pid, uint64_t tid, const char *text)
{
	struct known_name *one = find(s->n, s->segment, pid, tid);

	if (one)
		snprintf(one->text, sizeof(one->text), "%.100s", text);
}

/* Threads without rows: "other_threads.4711/4712". */
static int note_other_thread(void *arg, const char *key, const char *value)
{
	unsigned long long pid, tid;

	if (sscanf(key, "other_threads.%llu/%llu", &pid, &tid) == 2)
		set(arg, pid, tid, value);
	return 0;
}

static void read_tracks(const struct segment_names *s, const struct gt_segment *seg)
{
	for (uint32_t t = 0; t < seg->ntracks; t++) {
		const struct gt_track *track = &seg->tracks[t];
		bool is_thread = track->kind == GT_TRACK_THREAD && track->parent < seg->ntracks;
		const struct gt_track *process = is_thread ? &seg->tracks[track->parent] : track;

		if (track->name != GT_NONE && (is_thread || track->kind == GT_TRACK_PROCESS))
			set(s, (uint64_t)process->id, is_thread ? (uint64_t)track->id : 0,
				gt_str(seg, track->name));
	}
}

void gt_thread_names_read(struct gt_thread_names *n, struct gt_reader *r)
{
	struct segment_names s = { .n = n };

	gt_group_table_init(
		&n->list, sizeof(struct known_name), offsetof(struct known_name, text), NAMES);
	for (; s.segment < gt_reader_segments(r); s.segment++) {
		gt_meta_each(gt_reader_segment(r, s.segment), note_other_thread, &s);
		read_tracks(&s, gt_reader_segment(r, s.segment));
	}
}

void gt_thread_names_text(struct gt_thread_names *n, const struct gt_segment *seg, uint64_t pid,
	uint64_t tid, char text[GT_THREAD_NAME])
{
	const struct known_name *one = find(n, seg->index, pid, tid);
	const char *name;

	if (!one || !one->text[0])
		one = find(n, seg->index, pid, 0);
	name = one ? one->text : "";
	snprintf(text, GT_THREAD_NAME, "%.100s%s%llu/%llu", name, *name ? " " : "",
		(unsigned long long)pid, (unsigned long long)tid);
}

void gt_thread_names_release(struct gt_thread_names *n) { gt_group_table_release(&n->list); }
