/* What `gtexport --jsonl` and the import of its files (format B) agree on. */
#ifndef GT_IMPORT_JSONL_H
#define GT_IMPORT_JSONL_H
#include "formats/record.h"

/* What an import takes a call of this name for, where a line says no more: category, op, memkind and layer. group: parts that the line says
 * (import_jsonl_b.c), 0: none. */
void gt_jsonl_classify(const char *name, unsigned group, struct gt_type *type);
#endif
