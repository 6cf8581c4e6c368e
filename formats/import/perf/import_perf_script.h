/* Lines of the output of perf script (import_perf_line.c), for import_perf_script.c. */
#ifndef GT_IMPORT_PERF_SCRIPT_H
#define GT_IMPORT_PERF_SCRIPT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Borrowed bytes of a line; p is NULL if there are none. */
struct gt_perf_text {
	const char *p;
	size_t len;
};
/* "main 4711/4712 [001] 12.345678:  250000 task-clock:u: ffff.. f+0x1 (/lib/x.so)" */
struct gt_perf_line {
	struct gt_perf_text command;
	int64_t pid; /* 0: not printed */
	int64_t tid;
	int64_t time; /* ns */
	bool has_period;
	uint64_t period;
	struct gt_perf_text event; /* with its modifiers, without the colon */
	struct gt_perf_text rest;  /* a frame, or the text of a tracepoint; with blanks */
};
/* "      7f00aa f(int)+0x1 (/lib/x.so)" */
struct gt_perf_frame {
	uint64_t address;             /* 0: not printed */
	struct gt_perf_text function; /* without the offset; p is NULL: unknown */
	struct gt_perf_text module;   /* p is NULL: unknown or not printed */
	bool inlined, kernel;
};
/* Reads the first line of a sample. False: it is none, or has no thread or time. */
bool gt_perf_parse_sample(struct gt_perf_line *s, const char *line, size_t len);
/* Reads a line of a call chain, which begins with white space, or the frame in a sample's line.
 * False: it is none. */
bool gt_perf_parse_frame(struct gt_perf_frame *f, const char *line, size_t len);
/* Does the event count the nanoseconds of a processor (cpu-clock, task-clock)? */
bool gt_perf_is_clock(struct gt_perf_text event);
/* Is it a tracepoint or probe, "sched:sched_switch"? */
bool gt_perf_is_tracepoint(struct gt_perf_text event);
#endif
