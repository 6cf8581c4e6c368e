/* The folder of the running program's file, where its sibling programs and its library are. */
#ifndef GT_PROGRAM_FOLDER_H
#define GT_PROGRAM_FOLDER_H
#include <stddef.h>

/* Absolute and without links, so a link to the program leads to its siblings, too. "" if it is not
 * known (no /proc). */
void gt_program_folder(char *to, size_t size);
#endif
