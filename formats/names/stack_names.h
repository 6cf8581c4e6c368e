/* Names of the frames of stacks for users, and the frame of a stack that a figure counts for. */
#ifndef GT_STACK_NAMES_H
#define GT_STACK_NAMES_H
#include "formats/base/buf.h"
#include "formats/trace/read/reader.h"

enum gt_stack_by { GT_STACK_LINE, GT_STACK_FUNCTION, GT_STACK_MODULE };

/* Appends the name of the frame with this text (string id):
 *
 *            Python                  native with line      with symbol          without
 *   LINE     step (train/loop.py:88) gemm (src/blas.f:40)  gemm (libblas.so.3)  libblas.so.3+0x1f
 *   FUNCTION step (train/loop.py)    gemm (libblas.so.3)   gemm (libblas.so.3)  libblas.so.3+0x1f
 *   MODULE   train/loop.py           libblas.so.3          libblas.so.3         libblas.so.3
 *
 * Of a function that was inlined, ", inlined" follows the line or the library in the parentheses.
 * If another file of the recording has the same end of its path, more of the path is shown.
 * C++ functions are demangled. They have no parameters, and long template arguments are "<...>":
 * "torch::jit::init<...>::{lambda#2}::operator()". If only the text of a frame is known, the
 * name is the text. It may contain any bytes of the file. */
void gt_frame_name(
	struct gt_buf *to, const struct gt_segment *seg, uint32_t text, enum gt_stack_by by);
/* The same, of the rows of a table: all functions of a library that have no name are one row,
 * "libblas.so.3 (no symbols)". */
void gt_stack_row_name(
	struct gt_buf *to, const struct gt_segment *seg, uint32_t text, enum gt_stack_by by);
/* Appends the name of the function of a symbol as above, without the symbol's version
 * ("f@@LIB_2.34"). */
void gt_put_function_name(struct gt_buf *to, const char *symbol);
/* Is the frame a function? Otherwise it says why the stack has no frames beyond it. */
bool gt_frame_is_function(const struct gt_segment *seg, uint32_t text);
/* The string id of the frame that a stack counts for: the innermost Python frame; without one,
 * GT_MARK_NATIVE_ONLY or GT_MARK_UNREADABLE if the stack has it; otherwise the innermost function
 * outside CUDA's libraries (the runtime's functions and nvcc's launch stubs count as such wherever
 * they are linked), or the outermost one if all are in them. GT_NONE: no stack has this id, or it
 * has none of these. */
uint32_t gt_stack_caller(const struct gt_segment *seg, uint64_t stack);
/* Does any recording have stacks? */
bool gt_has_stacks(const struct gt_reader *r);
/* Appends the names of all frames, the innermost first: "f (a.py:2) < main (a.py:9)". */
void gt_stack_text(
	struct gt_buf *to, const struct gt_segment *seg, uint64_t stack, enum gt_stack_by by);
#endif
