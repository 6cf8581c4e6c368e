/* Other tools' files for tests: put at a path, opened as every tool opens them, and written down as
 *lines KIND TRACK NAME START+DURATION dDEPTH rRET key=value ... with KIND C call, O open, S span, G
 *GPU work, I instant, N counter, U unmatched, L loss, TRACK "pid/tid" (or "device/stream") and its
 *name if it has one. The includer says #define _GNU_SOURCE. */
#ifndef IMPORTED_H
#define IMPORTED_H
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "formats/base/buf.h"
#include "formats/import/importers.h"
#include "tests/unit/t.h"

static struct gt_err err;
static char path[] = "imported-XXXXXX";
static struct gt_buf listing;

/* The first and the last test. */
static inline void the_beginning(void)
{
	int fd = mkstemp(path);

	CHECK(fd >= 0 && !close(fd));
}

static inline void the_end(void)
{
	gt_buf_release(&listing);
	CHECK(!unlink(path));
}

static inline void put_file(const void *bytes, size_t len)
{
	FILE *f = fopen(path, "wb");

	if (!f || fwrite(bytes, 1, len, f) != len || fclose(f))
		abort();
}

static inline struct gt_reader *open_bytes(const void *bytes, size_t len)
{
	err = (struct gt_err)GT_ERR_INIT;
	put_file(bytes, len);
	return gt_open_any(path, &err);
}

static inline void list_args(const struct gt_event *ev)
{
	const struct gt_type *type = ev->kind == GT_LOST ? NULL : &ev->seg->types[ev->row.type];

	for (unsigned i = 0; type && i < ev->row.nargs; i++) {
		const char *name = gt_str(ev->seg, type->fields[i].name);
		double d;

		switch (type->fields[i].kind) {
		case GT_F_U64: gt_buf_printf(&listing, " %s=%" PRIu64, name, ev->args[i]); break;
		case GT_F_I64:
			gt_buf_printf(&listing, " %s=%" PRId64, name, (int64_t)ev->args[i]);
			break;
		case GT_F_HEX: gt_buf_printf(&listing, " %s=0x%" PRIx64, name, ev->args[i]); break;
		case GT_F_BOOL:
			gt_buf_printf(&listing, " %s=%s", name, ev->args[i] ? "true" : "false");
			break;
		case GT_F_STR:
			gt_buf_printf(
				&listing, " %s='%s'", name, gt_str(ev->seg, (uint32_t)ev->args[i]));
			break;
		default:
			memcpy(&d, &ev->args[i], sizeof(d));
			gt_buf_printf(&listing, " %s=%g", name, d);
		}
	}
}

/* The id of a track's owner: the device of a stream, the process of a thread. */
static inline int64_t id_above(const struct gt_segment *seg, const struct gt_track *t)
{
	while (t && t->parent != GT_NONE && seg->tracks[t->parent].kind == GT_TRACK_CONTEXT)
		t = &seg->tracks[t->parent];
	return t && t->parent != GT_NONE ? seg->tracks[t->parent].id : 0;
}

static inline void list_event(const struct gt_event *ev)
{
	const struct gt_track *t = ev->track == GT_NONE ? NULL : &ev->seg->tracks[ev->track];

	gt_buf_printf(&listing, "%c %" PRId64 "/%" PRId64 "%s%s %s %" PRId64 "+%" PRId64 " d%u r%d",
		"?COSGINUL"[ev->kind], id_above(ev->seg, t), t ? t->id : 0,
		t && t->name != GT_NONE ? " " : "",
		t && t->name != GT_NONE ? gt_str(ev->seg, t->name) : "",
		gt_type_name(ev->seg, ev->row.type), ev->row.start, ev->row.end - ev->row.start,
		ev->row.depth, ev->row.ret);
	list_args(ev);
	gt_buf_str(&listing, "\n");
}

/* The whole trace as text in listing. Closes it. */
static inline const char *list(struct gt_reader *r)
{
	struct gt_iter *it = r ? gt_iter_open(r, &(struct gt_filter){ .args = true }, &err) : NULL;
	struct gt_event ev;

	gt_buf_clear(&listing);
	while (it && gt_iter_next(it, &ev, &err) > 0)
		list_event(&ev);
	gt_iter_close(it);
	gt_reader_close(r);
	gt_buf_byte(&listing, 0);
	return err.code ? err.text : (const char *)listing.data;
}

static inline const char *list_text(const char *text)
{
	return list(open_bytes(text, strlen(text)));
}

static inline bool lists(const char *text, const char *expected)
{
	const char *got = list_text(text);

	if (strcmp(got, expected))
		fprintf(stderr, "got:\n%s\n", got);
	return !strcmp(got, expected);
}
#endif
