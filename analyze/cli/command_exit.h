/* Failures of gtanalyze: their messages, and the exit status that they and the answers lead to. */
#ifndef GT_COMMAND_EXIT_H
#define GT_COMMAND_EXIT_H
#include "analyze/core/exit_status.h"
#include "formats/table/table.h"
#include "formats/trace/read/reader.h"

/* Prints the error, about a file or NULL. Returns `status`, or GT_EXIT_UNKNOWN instead of
 * GT_EXIT_FAILURE if the file lacks the data (-ENOMSG). */
enum gt_exit gt_fail(const char *file, const struct gt_err *err, enum gt_exit status);
/* Prints the error, then the text of the option and a mark under the byte err->offset of it. */
enum gt_exit gt_fail_at(const char *option, const char *text, const struct gt_err *err);
/* The exit status that the tables of reports named by the user lead to. */
enum gt_exit gt_exit_of_tables(struct gt_table *const *tables, int n);
enum gt_exit gt_exit_of_damage(struct gt_reader *r); /* GT_EXIT_FAILURE: the file is damaged */
#endif
