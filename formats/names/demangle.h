/* Demangled C++ names. */
#ifndef GT_DEMANGLE_H
#define GT_DEMANGLE_H

/* new: the demangled name. NULL: it is not a mangled name, it is too long or nests too deeply, or
 * there is no memory; then show the name itself. */
char *gt_demangle(const char *name);
#endif
