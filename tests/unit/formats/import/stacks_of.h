/* The call stacks of an imported file, as text in listing: a line "ID innermost < ... < outermost"
 * for each. */
#ifndef STACKS_OF_H
#define STACKS_OF_H
#include "formats/names/stack_names.h"
#include "tests/unit/formats/import/imported.h"

static inline const char *stacks_of(const char *text)
{
	struct gt_reader *r = open_bytes(text, strlen(text));
	const struct gt_segment *seg = r ? gt_reader_segment(r, 0) : NULL;

	gt_buf_clear(&listing);
	for (uint32_t i = 0; seg && i < seg->nstacks; i++) {
		gt_buf_printf(&listing, "%u ", i);
		gt_stack_text(&listing, seg, i, GT_STACK_LINE);
		gt_buf_str(&listing, "\n");
	}
	gt_reader_close(r);
	gt_buf_byte(&listing, 0);
	return err.code ? err.text : (const char *)listing.data;
}

/* Does the metadata of the file have this text? */
static inline bool notes(const char *text, const char *meta)
{
	struct gt_reader *r = open_bytes(text, strlen(text));
	bool has = r && strstr(gt_reader_segment(r, 0)->meta_json, meta);

	if (!has)
		fprintf(stderr, "%s\n", r ? gt_reader_segment(r, 0)->meta_json : err.text);
	gt_reader_close(r);
	return has;
}
#endif
