/* Names that are added to a segment when it is read: of frames, and of inlined functions in stacks.
 */
#include "tests/unit/t.h"
#include "formats/trace/read/added_names.h"
#include "tests/unit/traces.h"

static unsigned calls;

/* Names the frame "lib+0x9", and puts a function into it. */
static void add(struct gt_seg *seg, void *arg)
{
	const struct gt_segment *s = gt_seg_segment(seg);

	calls++;
	for (uint32_t i = 0; i < s->nframes; i++) {
		struct gt_frame f = s->frames[i].frame;
		uint32_t inlined, text = s->frames[i].text;

		if (f.kind != GT_FRAME_NATIVE || strcmp(gt_str(s, text), "lib+0x9"))
			continue;
		CHECK(f.function == GT_NONE); /* the names added before are gone */
		f.function = gt_seg_add_string(seg, "outer");
		f.file = gt_seg_add_string(seg, "/src/lib.c");
		f.line = 7;
		CHECK(!gt_seg_set_frame(seg, text, &f));
		inlined = gt_seg_add_string(seg, "inner (inlined)");
		f.kind = GT_FRAME_INLINED;
		f.function = gt_seg_add_string(seg, "inner");
		CHECK(!gt_seg_set_frame(seg, inlined, &f));
		CHECK(!gt_seg_set_inlined(seg, text, &inlined, 1));
		return;
	}
}

static void check_names(const struct gt_segment *seg, uint32_t nstacks)
{
	const struct gt_frame *f;

	CHECK_EQ(seg->nstacks, nstacks);
	for (uint32_t i = 0; i < seg->nstacks; i++) {
		const struct gt_stack *s = &seg->stacks[i];

		CHECK_EQ(s->n, 3);
		CHECK_STR(gt_str(seg, s->frames[0]), "main");
		f = gt_segment_frame(seg, s->frames[1]);
		CHECK(f && f->kind == GT_FRAME_NATIVE && f->line == 7);
		CHECK_STR(gt_str(seg, f->function), "outer");
		f = gt_segment_frame(seg, s->frames[2]);
		CHECK(f && f->kind == GT_FRAME_INLINED);
		CHECK_STR(gt_str(seg, f->function), "inner");
	}
}

/* A reader that follows a file adds them again, to the names that the file has then. */
static void names_are_added_to_all_readers(void)
{
	struct tiny t;
	struct gt_err err = GT_ERR_INIT;
	int fd = temp_file(), keep = dup(fd);
	struct gt_frame native = {
		.kind = GT_FRAME_NATIVE, .function = GT_NONE, .file = GT_NONE, .offset = 9
	};
	uint32_t frames[2], late;
	struct gt_reader *r, *growing;

	CHECK(!tiny_open(&t, fd, true));
	native.module = gt_writer_string(t.w, "/lib");
	frames[0] = gt_writer_string(t.w, "main");
	frames[1] = gt_writer_place(t.w, gt_writer_string(t.w, "lib+0x9"), &native);
	CHECK_EQ(gt_writer_stack(t.w, frames, 2), 0);
	CHECK(!gt_writer_epoch(t.w, 1000, &err));
	gt_reader_set_names(add, NULL);
	CHECK((growing = gt_reader_open_growing(dup(keep), UINT64_MAX, &err)));
	CHECK_EQ(calls, 1);
	check_names(gt_reader_segment(growing, 0), 1);
	late = gt_writer_string(t.w, "late");
	frames[0] = gt_writer_string(t.w, "main");
	CHECK_EQ(gt_writer_stack(t.w, (uint32_t[]){ frames[0], frames[1] }, 2), 0);
	CHECK(!gt_writer_close(t.w, &err) && (r = gt_reader_open_fd(dup(keep), &err)));
	CHECK_EQ(gt_reader_grow(growing, UINT64_MAX, &err), 1);
	for (int i = 0; i < 2; i++) {
		const struct gt_segment *seg = gt_reader_segment(i ? growing : r, 0);

		check_names(seg, 1);
		CHECK_STR(gt_str(seg, late), "late");
	}
	gt_reader_close(growing);
	gt_reader_close(r);
	gt_reader_set_names(NULL, NULL);
	CHECK((r = gt_reader_open_fd(keep, &err)));
	CHECK_EQ(gt_reader_segment(r, 0)->stacks[0].n, 2);
	gt_reader_close(r);
}

/* A file may have inlined functions, too; those with ids that do not exist are refused. */
static void inlined_functions_come_back(void)
{
	static const char *const want[] = { "a", "b", "x", "y", "c", "x" };
	struct tiny t;
	int fd = temp_file(), keep = dup(fd);
	uint32_t frames[3], inlined[2];
	const struct gt_segment *seg;
	struct gt_reader *r;

	CHECK(!tiny_open(&t, fd, true));
	for (int i = 0; i < 3; i++)
		frames[i] = gt_writer_string(t.w, (const char *[]){ "a", "b", "c" }[i]);
	inlined[0] = gt_writer_string(t.w, "x");
	inlined[1] = gt_writer_string(t.w, "y");
	CHECK(gt_writer_stack(t.w, frames, 3) == 0 && gt_writer_stack(t.w, frames, 1) == 1);
	CHECK(!gt_writer_inlined(t.w, frames[1], inlined, 2));
	CHECK(!gt_writer_inlined(t.w, frames[1], inlined, 1)); /* the first ones count */
	CHECK(!gt_writer_inlined(t.w, frames[2], inlined, 1));
	CHECK_EQ(gt_writer_inlined(t.w, 999, inlined, 1), -EINVAL);
	CHECK_EQ(gt_writer_inlined(t.w, frames[0], &(uint32_t){ 999 }, 1), -EINVAL);
	CHECK_EQ(gt_writer_inlined(t.w, frames[0], inlined, 0), -EINVAL);
	CHECK(!gt_writer_close(t.w, NULL) && (r = gt_reader_open_fd(keep, NULL)));
	seg = gt_reader_segment(r, 0);
	CHECK_EQ(seg->stacks[0].n, 6);
	for (uint32_t i = 0; i < 6; i++)
		CHECK_STR(gt_str(seg, seg->stacks[0].frames[i]), want[i]);
	CHECK_EQ(seg->stacks[1].n, 1);
	gt_reader_close(r);
}

T_MAIN(T(names_are_added_to_all_readers), T(inlined_functions_come_back))
