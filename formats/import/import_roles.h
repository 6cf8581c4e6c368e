/* The roles of arguments in files of other tools, by their names. */
#ifndef GT_IMPORT_ROLES_H
#define GT_IMPORT_ROLES_H
#include "formats/cuda/cuda_api.h"
#include "formats/trace/record.h"

/* The enum gt_role of an argument of that enum gt_field_kind. known: the parameters
 * of the function, which come first. */
uint8_t gt_import_role(
	const char *name, uint8_t kind, const struct gt_api_field *known, unsigned nknown);
/* The role of an argument of a row other than a call that has the name which gt itself gives it
 * (formats/cuda/gpu_rows.h, counters). GT_R_NONE: there is none. */
uint8_t gt_import_recorded_role(const char *name, uint8_t kind);
#endif
