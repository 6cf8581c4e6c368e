/* What the arguments of a foreign file's calls mean, by their names. */
#ifndef GT_IMPORT_ROLES_H
#define GT_IMPORT_ROLES_H
#include "formats/cuda/cuda_api.h"
#include "formats/trace/record.h"

/* enum gt_role of an argument of that enum gt_field_kind. known: the function's own parameters,
 * which are asked first. */
uint8_t gt_import_role(
	const char *name, uint8_t kind, const struct gt_api_field *known, unsigned nknown);
#endif
