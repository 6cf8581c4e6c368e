/* Probes at functions of libraries and programs that the user names (--probe). */
#ifndef GT_FUNCTION_PROBES_H
#define GT_FUNCTION_PROBES_H
#include <sys/types.h>
#include "collect/probes/function_spec.h"

struct gt_bpf_way;
struct gt_function_probes;

/* new: close it. Reads the options of the way. NULL: err. */
struct gt_function_probes *gt_function_probes_open(struct gt_bpf_way *b, struct gt_err *err);
void gt_function_probes_close(struct gt_function_probes *f); /* NULL is fine */
/* Sets the probes in the files that the process has mapped, and that have none yet. 0 or negative.
 */
int gt_function_probes_attach(struct gt_function_probes *f, pid_t pid, struct gt_err *err);
/* After the first processes: 0; -ENOENT: a probe is in none of them, and err has the most
 * similar name. */
int gt_function_probes_check(const struct gt_function_probes *f, struct gt_err *err);
#endif
