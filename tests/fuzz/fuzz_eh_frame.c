/* Arbitrary bytes as call frame information. The first 12 bytes say which address is looked for and
 * where .eh_frame_hdr begins. A row that is found has only kinds that exist. */
#include <stdlib.h>
#include "collect/guest/stack/eh_frame.h"
#include "collect/ipc/unaligned.h"

#define BASE 0x10000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look_up(const struct gt_eh_image *m, uint64_t pc)
{
	struct gt_cfi_row row;

	if (gt_eh_find(m, pc, &row) == GT_EH_FOUND &&
		(row.cfa > GT_CFA_OTHER || row.fp.place > GT_CFI_OTHER ||
			row.ra.place > GT_CFI_OTHER))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct gt_eh_image m = { .address = BASE };
	uint32_t pc;

	if (size < 12)
		return 0;
	pc = gt_u32_at(data);
	m.header = BASE + gt_u32_at(data + 4);
	m.header_size = gt_u32_at(data + 8);
	m.bytes = data + 12;
	m.size = size - 12;
	m.registers = GT_CFI_X86_64;
	look_up(&m, pc);
	look_up(&m, BASE + pc % 65536);
	m.registers = GT_CFI_AARCH64;
	look_up(&m, pc);
	return 0;
}
