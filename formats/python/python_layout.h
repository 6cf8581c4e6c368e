/* Where the fields of CPython's structures lie, for CPython 3.9 to 3.14 on 64-bit Linux.
 *
 * Up to 3.12 the offsets are those of the public headers, which are the same for x86-64 and
 * aarch64. From 3.13 on the interpreter publishes them itself: struct _Py_DebugOffsets at the
 * start of _PyRuntime. */
#ifndef GT_PYTHON_LAYOUT_H
#define GT_PYTHON_LAYOUT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How a frame says which instruction it executes. */
enum gt_python_instruction {
	GT_PYTHON_INDEX,   /* 3.9: int, bytes from the start; -1: not started */
	GT_PYTHON_UNITS,   /* 3.10: int, code units of two bytes from the start; -1: not started */
	GT_PYTHON_POINTER, /* 3.11: address of a code unit inside the code object */
};

#define GT_PYTHON_GENERATOR 1 /* owner of the frame of a generator or coroutine */

/* Bytes of a line table. A longer one is neither read nor written: its code has no lines. */
#define GT_PYTHON_LINES_MAX (1u << 20)

/* Offsets in bytes. GT_PYTHON_NO: this version has no such field. */
#define GT_PYTHON_NO 0xffff
struct gt_python_layout {
	uint16_t version; /* 0x030b: 3.11 */
	/* From here to copies: what a walk needs. */
	uint8_t instruction_kind;
	/* Owners of a frame: from first_skipped on it is no Python function; above last_owner there
	 * are none. */
	uint8_t first_skipped, last_owner;
	uint8_t tag_bits; /* of a pointer to a code object: they are no part of its address */
	/* of a frame; frame_size: bytes that are read; copy_index: of its thread's code units */
	uint16_t frame_size, previous, code, instruction, owner, copy_index;
	/* of objects; size: of a bytes object and of a code object, whose unit is two bytes */
	uint16_t type, size, bytes_data;
	/* of a code object; first_traceable: frames at instructions before it (in units) are
	 * incomplete; start: the code units, or a pointer to a bytes object (up to 3.10);
	 * copies: 3.14, free-threaded: pointer to the code units of each thread */
	uint16_t first_line, name, file, lines, first_traceable, start, copies;
	uint16_t qualname;
	/* of a thread state; native_id: the kernel's id of the thread (not in 3.9 and 3.10); frame
	 * leads to the innermost frame, or to a structure that has the pointer to it at innermost
	 */
	uint16_t thread_next, thread_id, native_id, thread_frame, innermost;
	/* of a thread state, 3.10 and 3.11: pointer to a structure of the innermost call of the
	 * interpreter, on the stack of the thread that runs it; without one, the structure is in
	 * the thread state */
	uint16_t thread_call;
	/* of a text; text_shift: bit of its state where the bytes of a character begin; the
	 * characters of an ASCII text, and of another one */
	uint16_t text_length, text_state, text_shift, ascii_data, other_data;
	/* up to 3.11: a thread may have a state in each interpreter, and Python returns one; and it
	 * may use a state that another thread has made, and that has the id of that one */
	bool searches_states;
	/* of _PyRuntime and of an interpreter state; next_interpreter_id: up to 3.12 */
	uint32_t finalizing, next_interpreter_id, interpreters;
	uint32_t interpreter_next, interpreter_threads;
	/* of _PyRuntime: the GIL; with gil_is_pointed_to (3.12 and later) of an interpreter state:
	 * a pointer to its GIL */
	uint32_t gil;
	bool gil_is_pointed_to;
	/* of a GIL: microseconds that a thread waits before it asks for it; the state of the
	 * thread that holds it or held it last; an int: 1 while it is held; the first one of two
	 * conditions, each with a mutex behind it, which are its end; 0: the GIL is not known */
	uint16_t gil_interval, gil_holder, gil_locked, gil_condition;
};

#define GT_PYTHON_STATE_MAX 512 /* bytes of a thread state, up to 3.11 */

/* Chooses the layout. version: PY_VERSION_HEX. runtime: _PyRuntime, readable for `bytes`.
 * False: an unknown version, or offsets that cannot be right. */
bool gt_python_layout(
	uint32_t version, const void *runtime, size_t bytes, struct gt_python_layout *l);
#endif
