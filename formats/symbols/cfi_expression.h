/* Expressions of call frame information (DWARF 5, 2.5): a register or an address as a function of
 * the current registers and the stack. */
#ifndef GT_CFI_EXPRESSION_H
#define GT_CFI_EXPRESSION_H
#include <elfutils/libdw.h>
#include "formats/symbols/elf_cfi.h"

struct gt_cfi_context {
	const struct gt_cpu_registers *registers;
	uint64_t cfa;
	gt_cpu_read *read;
	void *arg;
};
/* Computes the value. GT_CFI_CALLER: it is in *value. */
enum gt_cfi_step gt_cfi_evaluate(
	const Dwarf_Op *ops, size_t n, const struct gt_cfi_context *in, uint64_t *value);
#endif
