#include "formats/trace/read/frame_files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "formats/base/buf.h"
#include "formats/trace/read/reader_internal.h"

#define COMPARED_MAX 64 /* files with one end; further ones are shown with their whole path */

const char *gt_path_last_parts(const char *path, uint32_t parts)
{
	const char *p = path + strlen(path);

	while (p > path && (p[-1] != '/' || --parts))
		p--;
	return p;
}

/* How many components at the end of two different paths differ from each other. */
static uint32_t parts_to_differ(const char *a, const char *b)
{
	const char *x = a + strlen(a), *y = b + strlen(b);
	uint32_t parts = 1;

	while (x > a && y > b && x[-1] == y[-1]) {
		parts += x[-1] == '/';
		x--;
		y--;
	}
	return parts;
}

/* Compares the new file with those of the same end. */
static void tell_apart(struct gt_frame_files *f, struct gt_frame_file *new,
	const char *(*text)(const void *, uint32_t), const void *arg)
{
	const char *path = text(arg, new->path);

	for (uint32_t i = new->next; i; i = f->items[i - 1].next) {
		struct gt_frame_file *old = &f->items[i - 1];
		const char *other = text(arg, old->path);
		uint32_t parts;

		if (!strcmp(path, other))
			continue;
		parts = parts_to_differ(path, other);
		if (new->parts < parts)
			new->parts = parts;
		if (old->parts < parts)
			old->parts = parts;
	}
}

/* parts: so many are shown at least */
static int add_path(struct gt_frame_files *f, uint32_t path, uint32_t parts,
	const char *(*text)(const void *arg, uint32_t id), const void *arg)
{
	struct gt_frame_file new = { path, parts, 0 };
	struct gt_path_end end = { .latest = GT_NONE };
	const char *shown;
	uint32_t i;

	if (gt_map_find_item(&f->by_path, f->items, sizeof(new), &path, sizeof(path)) != GT_NONE)
		return 0;
	shown = gt_path_last_parts(text(arg, path), parts);
	end.hash = gt_hash(shown, strlen(shown));
	i = gt_map_find_item(&f->by_end, f->ends, sizeof(end), &end.hash, sizeof(end.hash));
	if (i == GT_NONE)
		i = gt_map_add_item(&f->by_end, &f->ends, &f->nends, &f->ends_cap, sizeof(end),
			&end, sizeof(end.hash));
	if (i == GT_NONE)
		return -ENOMEM;
	new.next = f->ends[i].latest + 1;
	if (f->ends[i].n++ < COMPARED_MAX)
		tell_apart(f, &new, text, arg);
	else
		new.parts = UINT32_MAX;
	f->ends[i].latest = gt_map_add_item(
		&f->by_path, &f->items, &f->n, &f->cap, sizeof(new), &new, sizeof(new.path));
	return f->ends[i].latest == GT_NONE ? -ENOMEM : 0;
}

int gt_frame_files_add_frame(struct gt_frame_files **f, const struct gt_frame *frame,
	const char *(*text)(const void *arg, uint32_t id), const void *arg)
{
	int rc = 0;

	if (!*f && !(*f = calloc(1, sizeof(**f))))
		return -ENOMEM;
	if (frame->file != GT_NONE)
		rc = add_path(*f, frame->file, GT_SOURCE_PARTS, text, arg);
	if (!rc && frame->module != GT_NONE)
		rc = add_path(*f, frame->module, GT_MODULE_PARTS, text, arg);
	return rc;
}

uint32_t gt_segment_path_parts(const struct gt_segment *seg, uint32_t path, uint32_t parts)
{
	const struct gt_frame_files *f = seg->frame_files;
	uint32_t i = f
		? gt_map_find_item(&f->by_path, f->items, sizeof(*f->items), &path, sizeof(path))
		: GT_NONE;

	return i == GT_NONE || f->items[i].parts < parts ? parts : f->items[i].parts;
}

void gt_frame_files_free(struct gt_frame_files *f)
{
	if (!f)
		return;
	free(f->items);
	free(f->ends);
	gt_map_release(&f->by_path);
	gt_map_release(&f->by_end);
	free(f);
}
