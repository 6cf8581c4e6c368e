/* Stacks of calls: definitions from rings become the file's frames and stacks.
 *
 * A thread defines its stacks and code objects by numbers of its own (ring.h). Equal stacks of all
 * threads and processes are one stack in the file. */
#ifndef GT_CALL_STACKS_H
#define GT_CALL_STACKS_H
#include <stddef.h>
#include "collect/ipc/ring.h"
#include "collect/recorder/compiled_functions.h"
#include "formats/trace/write/writer.h"

/* Of one thread; all zeros: none yet. */
struct gt_thread_stacks {
	struct gt_stack_code {
		struct gt_rec_code head; /* at: bytes of the line table so far */
		uint32_t name, file;     /* strings of the file */
		uint8_t *lines;
		size_t lines_cap;
		/* the frame that was written last; frame: GT_NONE: none yet */
		uint32_t offset, frame;
	} * codes;
	size_t ncodes, codes_cap;
	size_t line_bytes; /* of all line tables */
	struct gt_thread_stack {
		uint32_t id;     /* the file's; GT_NONE: there was no space for it */
		uint32_t marked; /* with GT_MARK_NATIVE_ONLY: plus 1; 0: not made yet */
		bool has_python;
	} * stacks; /* by number - 1 */
	size_t nstacks, stacks_cap;
};
void gt_thread_stacks_release(struct gt_thread_stacks *s);

/* Libraries that one process has loaded, in the order of their definitions; the latest ones, if
 * there are very many. */
struct gt_loaded_objects {
	struct gt_loaded_object {
		uint64_t low, high, base;
		uint32_t module; /* string of the file: its path */
		bool is_file;
	} * items;
	size_t n, cap;
	/* addresses of frames whose library was not defined yet, and the texts of these frames */
	struct gt_unplaced_frame {
		uint64_t address;
		uint32_t text;
	} * unplaced;
	size_t nunplaced, unplaced_cap;
	struct gt_compiled_functions compiled;
	bool has_python; /* a stack of the process has Python frames */
};
void gt_loaded_objects_release(struct gt_loaded_objects *o);

/* Each takes the text of one record, `start` being its number. Texts that cannot be right are
 * ignored. name, file: strings of the file that the hashes in the record stand for. */
void gt_call_stacks_code(struct gt_thread_stacks *s, uint64_t number, const void *text, size_t len,
	uint32_t name, uint32_t file);
void gt_call_stacks_object(
	struct gt_writer *w, struct gt_loaded_objects *o, const void *text, size_t len);
void gt_call_stacks_stack(struct gt_writer *w, struct gt_thread_stacks *s,
	struct gt_loaded_objects *o, const struct gt_guest *guest, uint64_t number,
	const void *text, size_t len);

/* The file's stack of this number, or GT_NONE. */
static inline uint32_t gt_call_stack(const struct gt_thread_stacks *s, uint64_t number)
{
	return number && number <= s->nstacks ? s->stacks[number - 1].id : GT_NONE;
}
static inline bool gt_call_stack_has_python(const struct gt_thread_stacks *s, uint64_t number)
{
	return number && number <= s->nstacks && s->stacks[number - 1].has_python;
}
#endif
