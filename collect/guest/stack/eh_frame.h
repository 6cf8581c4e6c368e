/* Call frame information: how a function's caller is found, read from .eh_frame.
 *
 * A pure function over the bytes of a loaded library. It checks each value that it reads, so
 * damaged or hostile ones lead to a result, not to a fault or an endless loop. */
#ifndef GT_GUEST_EH_FRAME_H
#define GT_GUEST_EH_FRAME_H
#include <stdbool.h>
#include <stdint.h>

/* DWARF numbers of the registers of which rules are read. */
struct gt_cfi_registers {
	uint8_t fp, sp, ra;
};
#define GT_CFI_X86_64 ((struct gt_cfi_registers){ .fp = 6, .sp = 7, .ra = 16 })
#define GT_CFI_AARCH64 ((struct gt_cfi_registers){ .fp = 29, .sp = 31, .ra = 30 })

/* Bytes of a library, as they lie in memory or as they would: bytes[0] is at `address`. They
 * contain .eh_frame_hdr and .eh_frame. */
struct gt_eh_image {
	const uint8_t *bytes;
	uint64_t size, address;
	uint64_t header, header_size; /* .eh_frame_hdr: address and bytes */
	struct gt_cfi_registers registers;
};

/* What the caller's value of a register is. */
enum gt_cfi_place {
	GT_CFI_SAME,      /* the current value */
	GT_CFI_SAVED,     /* the word at CFA + offset */
	GT_CFI_AT_FP,     /* the word at frame pointer + offset */
	GT_CFI_UNDEFINED, /* of the return address: there is no caller */
	GT_CFI_OTHER      /* an expression, or another register */
};
enum gt_cfa {
	GT_CFA_SP,    /* stack pointer + offset */
	GT_CFA_FP,    /* frame pointer + offset */
	GT_CFA_AT_FP, /* the word at frame pointer + offset */
	GT_CFA_OTHER
};
/* The caller's registers at one instruction. CFA: the caller's stack pointer after the return. */
struct gt_cfi_row {
	enum gt_cfa cfa;
	int64_t cfa_offset;
	struct gt_cfi_register {
		enum gt_cfi_place place;
		int64_t offset;
	} fp, ra;
	bool is_signal_frame; /* the kernel calls it: the caller was interrupted */
};

enum gt_eh_result {
	GT_EH_FOUND,
	GT_EH_NO_FUNCTION, /* no entry contains the address */
	GT_EH_DAMAGED      /* or of a kind that is not known here */
};
/* pc: address of an instruction. For a return address that is one byte less, because a call may be
 * the last instruction of its function. */
enum gt_eh_result gt_eh_find(const struct gt_eh_image *image, uint64_t pc, struct gt_cfi_row *row);
#endif
