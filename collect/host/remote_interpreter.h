/* The interpreter of Python in another process: where it is, and its layout. */
#ifndef GT_REMOTE_INTERPRETER_H
#define GT_REMOTE_INTERPRETER_H
#include "formats/python/python_layout.h"

struct gt_remote_interpreter {
	struct gt_python_layout layout;
	uint64_t runtime, code_type, text_type, bytes_type, eval_low, eval_high;
};
/* Looks for it among the files that the process has mapped. False: there is none, or one of an
 * unknown version. Costs some ms. */
/* By its name: an interpreter, or the library that has it. */
bool gt_is_python_file(const char *path);
bool gt_remote_interpreter_find(uint32_t tgid, struct gt_remote_interpreter *in);
/* Reads memory of a process. 0 or negative. */
int gt_read_process(uint32_t tgid, uint64_t address, void *to, size_t n);
/* Reads up to the first page that cannot be read. Returns the number of bytes. */
size_t gt_read_process_part(uint32_t tgid, uint64_t address, void *to, size_t n);
#endif
