/* .eh_frame is a list of two kinds of entries. A CIE holds what many functions have in common. An
 * FDE describes one function: its range, its CIE, and instructions that say after which of its
 * instructions which rule changes. .eh_frame_hdr holds a table of the FDEs sorted by address.
 * Both are described in the Linux Standard Base (Core, "Exception Frames") and in the DWARF
 * standard ("Call Frame Information"). */
#include "collect/guest/stack/eh_frame.h"

#include <stddef.h>
#include "collect/ipc/unaligned.h"

#define ENTRY_BYTES (1u << 20) /* a longer entry counts as damaged */
#define SAVED_ROWS 16          /* nested DW_CFA_remember_state */

/* ---- bytes ---- */

/* A reader of bytes. After a read beyond the end it is `bad`, and all reads return 0. */
struct span {
	const uint8_t *at, *end;
	bool bad;
};

static const uint8_t *take(struct span *s, uint64_t n)
{
	const uint8_t *p = s->at;

	if (s->bad || (uint64_t)(s->end - s->at) < n) {
		s->bad = true;
		return NULL;
	}
	s->at += n;
	return p;
}
static uint8_t u8(struct span *s)
{
	const uint8_t *p = take(s, 1);

	return p ? *p : 0;
}
static uint16_t u16(struct span *s)
{
	const uint8_t *p = take(s, 2);

	return p ? gt_u16_at(p) : 0;
}
static uint32_t u32(struct span *s)
{
	const uint8_t *p = take(s, 4);

	return p ? gt_u32_at(p) : 0;
}
static uint64_t u64(struct span *s)
{
	const uint8_t *p = take(s, 8);

	return p ? gt_u64_at(p) : 0;
}
static uint64_t leb(struct span *s, bool is_signed)
{
	uint64_t v = 0;
	unsigned shift = 0;
	uint8_t b;

	do {
		b = u8(s);
		if (shift < 64)
			v |= (uint64_t)(b & 0x7f) << shift;
		shift += 7;
	} while (b & 0x80);
	if (is_signed && b & 0x40 && shift < 64)
		v |= ~0ULL << shift;
	return v;
}
static uint64_t uleb(struct span *s) { return leb(s, false); }
static int64_t sleb(struct span *s) { return (int64_t)leb(s, true); }

/* Bytes of the image from an address on. */
static struct span span_at(const struct gt_eh_image *m, uint64_t address)
{
	uint64_t from = address - m->address;

	if (from > m->size)
		return (struct span){ .bad = true };
	return (struct span){ m->bytes + from, m->bytes + m->size, false };
}
static uint64_t address_of(const struct gt_eh_image *m, const uint8_t *p)
{
	return m->address + (uint64_t)(p - m->bytes);
}

/* Encodings of pointers (DW_EH_PE_*): a format, and what the value is relative to. */
enum { ABSOLUTE = 0x00, PC_RELATIVE = 0x10, DATA_RELATIVE = 0x30, INDIRECT = 0x80, OMITTED = 0xff };

static uint64_t encoded(struct span *s, const struct gt_eh_image *m, uint8_t encoding)
{
	uint64_t v, here = s->bad ? 0 : address_of(m, s->at);

	if (encoding == OMITTED)
		return 0;
	switch (encoding & 0x0f) {
	case 0x00:
	case 0x04:
	case 0x0c: v = u64(s); break;
	case 0x01: v = uleb(s); break;
	case 0x02: v = u16(s); break;
	case 0x03: v = u32(s); break;
	case 0x09: v = (uint64_t)sleb(s); break;
	case 0x0a: v = (uint64_t)(int16_t)u16(s); break;
	case 0x0b: v = (uint64_t)(int32_t)u32(s); break;
	default: s->bad = true; return 0;
	}
	switch (encoding & 0x70) {
	case ABSOLUTE: return v;
	case PC_RELATIVE: return v + here;
	case DATA_RELATIVE: return v + m->header;
	default: s->bad = true; return 0;
	}
}

/* ---- the table of .eh_frame_hdr ---- */

/* The address of the FDE that may contain pc. 0: there is none, or the header is damaged. */
static uint64_t find_fde(const struct gt_eh_image *m, uint64_t pc, bool *damaged)
{
	struct span s = span_at(m, m->header);
	uint8_t version, frame_encoding, count_encoding, table_encoding;
	uint64_t count, low = 0, high;

	*damaged = true;
	if (s.bad || (uint64_t)(s.end - s.at) < m->header_size)
		return 0;
	s.end = s.at + m->header_size;
	version = u8(&s), frame_encoding = u8(&s), count_encoding = u8(&s), table_encoding = u8(&s);
	encoded(&s, m, frame_encoding);
	count = encoded(&s, m, count_encoding);
	/* two signed 32-bit numbers relative to the header, as all linkers write them */
	if (s.bad || version != 1 || count_encoding == OMITTED || table_encoding != 0x3b ||
		count > (uint64_t)(s.end - s.at) / 8)
		return 0;
	*damaged = false;
	high = count; /* entries below `low` start at or below pc, entries from `high` on above */
	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (m->header + (uint64_t)(int32_t)gt_u32_at(s.at + 8 * middle) <= pc)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? m->header + (uint64_t)(int32_t)gt_u32_at(s.at + 8 * (low - 1) + 4) : 0;
}

/* ---- entries ---- */

/* The contents of the entry at an address, after its length. */
static struct span entry_at(const struct gt_eh_image *m, uint64_t address)
{
	struct span s = span_at(m, address);
	uint64_t n = u32(&s);

	if (n == 0xffffffff)
		n = u64(&s);
	if (s.bad || !n || n > ENTRY_BYTES || n > (uint64_t)(s.end - s.at))
		return (struct span){ .bad = true };
	s.end = s.at + n;
	return s;
}

struct cie {
	uint64_t code_align;
	int64_t data_align;
	uint8_t pointers; /* their encoding */
	bool has_size, is_signal_frame;
	struct span instructions;
};

static bool read_augmentation(
	struct span *s, const struct gt_eh_image *m, const uint8_t *text, struct cie *c)
{
	const uint8_t *from;
	struct span data;

	if (!*text)
		return true;
	if (*text != 'z')
		return false;
	c->has_size = true;
	from = take(s, uleb(s));
	data = (struct span){ from, s->at, !from };
	while (*++text)
		switch (*text) {
		case 'L': u8(&data); break;
		case 'P': encoded(&data, m, u8(&data) & 0x7f); break;
		case 'R': c->pointers = u8(&data); break;
		case 'S': c->is_signal_frame = true; break;
		case 'B':        /* aarch64: the second key signs return addresses */
		case 'G': break; /* aarch64: tagged stack memory */
		default: return false;
		}
	return !data.bad;
}

static bool read_cie(const struct gt_eh_image *m, uint64_t address, struct cie *c)
{
	struct span s = entry_at(m, address);
	const uint8_t *text;
	uint64_t ra;
	uint8_t version;

	*c = (struct cie){ .pointers = ABSOLUTE };
	if (s.bad || u32(&s))
		return false;
	version = u8(&s);
	text = s.at;
	while (u8(&s))
		;
	if (s.bad || (version != 1 && version != 3))
		return false;
	c->code_align = uleb(&s);
	c->data_align = sleb(&s);
	ra = version == 1 ? u8(&s) : uleb(&s);
	if (s.bad || ra != m->registers.ra || !read_augmentation(&s, m, text, c))
		return false;
	c->instructions = s;
	return true;
}

/* ---- instructions ---- */

struct machine {
	const struct gt_eh_image *image;
	const struct cie *cie;
	uint64_t at, pc; /* the row is valid from `at` on; the wanted one contains pc */
	struct gt_cfi_row row, initial, saved[SAVED_ROWS];
	unsigned nsaved;
	bool bad;
};

static struct gt_cfi_register *register_of(
	struct machine *m, struct gt_cfi_row *row, uint64_t number)
{
	if (number == m->image->registers.fp)
		return &row->fp;
	return number == m->image->registers.ra ? &row->ra : NULL;
}

static void set(struct machine *m, uint64_t number, enum gt_cfi_place place, int64_t offset)
{
	struct gt_cfi_register *r = register_of(m, &m->row, number);

	if (r)
		*r = (struct gt_cfi_register){ place, offset };
}

static void restore(struct machine *m, uint64_t number)
{
	struct gt_cfi_register *r = register_of(m, &m->row, number);

	if (r)
		*r = *register_of(m, &m->initial, number);
}

static void set_cfa(struct machine *m, uint64_t number, int64_t offset)
{
	const struct gt_cfi_registers *r = &m->image->registers;

	m->row.cfa = number == r->sp ? GT_CFA_SP : number == r->fp ? GT_CFA_FP : GT_CFA_OTHER;
	m->row.cfa_offset = offset;
}

static int64_t scaled(const struct machine *m, uint64_t offset)
{
	return (int64_t)(offset * (uint64_t)m->cie->data_align);
}

/* Reads an expression. Two forms of it are rules: "frame pointer + offset", and the word there. */
static bool read_expression(struct machine *m, struct span *s, bool *is_word, int64_t *offset)
{
	enum { BREG0 = 0x70, DEREF = 0x06 };
	uint64_t n = uleb(s);
	const uint8_t *p = take(s, n);
	struct span e = { p, s->at, !p };

	if (u8(&e) != BREG0 + m->image->registers.fp)
		return false;
	*offset = sleb(&e);
	*is_word = !e.bad && e.at < e.end;
	return !e.bad && (!*is_word || (u8(&e) == DEREF && e.at == e.end));
}

static void set_cfa_by_expression(struct machine *m, struct span *s)
{
	bool is_word;
	int64_t offset = 0;

	m->row.cfa = !read_expression(m, s, &is_word, &offset) ? GT_CFA_OTHER
		: is_word                                      ? GT_CFA_AT_FP
							       : GT_CFA_FP;
	m->row.cfa_offset = offset;
}

static void set_by_expression(struct machine *m, struct span *s, bool is_value)
{
	uint64_t number = uleb(s);
	bool is_word;
	int64_t offset = 0;
	bool known = read_expression(m, s, &is_word, &offset) && is_value == is_word;

	set(m, number, known ? GT_CFI_AT_FP : GT_CFI_OTHER, offset);
}

static void remember(struct machine *m)
{
	if (m->nsaved == SAVED_ROWS)
		m->bad = true;
	else
		m->saved[m->nsaved++] = m->row;
}

static void restore_remembered(struct machine *m)
{
	if (!m->nsaved)
		m->bad = true;
	else
		m->row = m->saved[--m->nsaved];
}

/* The instructions without operands in their first byte (DW_CFA_*), except those that move on. */
static void execute(struct machine *m, struct span *s, uint8_t code)
{
	uint64_t number;

	switch (code) {
	case 0x00: break; /* nop */
	case 0x05: number = uleb(s), set(m, number, GT_CFI_SAVED, scaled(m, uleb(s))); break;
	case 0x06: restore(m, uleb(s)); break;
	case 0x07: set(m, uleb(s), GT_CFI_UNDEFINED, 0); break;
	case 0x08: set(m, uleb(s), GT_CFI_SAME, 0); break;
	case 0x09: /* register */
	case 0x14: /* val_offset */
	case 0x15: /* val_offset_sf */
		number = uleb(s), uleb(s), set(m, number, GT_CFI_OTHER, 0);
		break;
	case 0x0a: remember(m); break;
	case 0x0b: restore_remembered(m); break;
	case 0x0c: number = uleb(s), set_cfa(m, number, (int64_t)uleb(s)); break;
	case 0x0d: set_cfa(m, uleb(s), m->row.cfa_offset); break;
	case 0x0e: m->row.cfa_offset = (int64_t)uleb(s); break;
	case 0x0f: set_cfa_by_expression(m, s); break;
	case 0x10: set_by_expression(m, s, false); break;
	case 0x16: set_by_expression(m, s, true); break;
	case 0x11:
		number = uleb(s);
		set(m, number, GT_CFI_SAVED, scaled(m, (uint64_t)sleb(s)));
		break;
	case 0x12: number = uleb(s), set_cfa(m, number, scaled(m, (uint64_t)sleb(s))); break;
	case 0x13: m->row.cfa_offset = scaled(m, (uint64_t)sleb(s)); break;
	case 0x2c: /* aarch64: the return address is signed or no longer signed */
	case 0x2d: break;
	case 0x2e: uleb(s); break; /* GNU_args_size */
	case 0x2f:                 /* GNU_negative_offset_extended */
		number = uleb(s);
		set(m, number, GT_CFI_SAVED, (int64_t)(0 - (uint64_t)scaled(m, uleb(s))));
		break;
	default: m->bad = true;
	}
}

static void run(struct machine *m, struct span s)
{
	while (!m->bad && !s.bad && s.at < s.end) {
		uint8_t code = u8(&s), low = code & 0x3f;
		uint64_t next = m->at;

		switch (code >> 6) {
		case 1: next += low * m->cie->code_align; break;
		case 2: set(m, low, GT_CFI_SAVED, scaled(m, uleb(&s))); continue;
		case 3: restore(m, low); continue;
		default:
			switch (code) {
			case 0x01: next = encoded(&s, m->image, m->cie->pointers); break;
			case 0x02: next += u8(&s) * m->cie->code_align; break;
			case 0x03: next += u16(&s) * m->cie->code_align; break;
			case 0x04: next += u32(&s) * m->cie->code_align; break;
			default: execute(m, &s, code); continue;
			}
		}
		if (next > m->pc)
			return;
		m->at = next;
	}
	m->bad |= s.bad;
}

enum gt_eh_result gt_eh_find(const struct gt_eh_image *image, uint64_t pc, struct gt_cfi_row *row)
{
	struct machine m = { .image = image, .pc = pc, .row = { .cfa = GT_CFA_OTHER } };
	bool damaged;
	uint64_t fde = find_fde(image, pc, &damaged), here, back, low, size;
	struct span s = fde ? entry_at(image, fde) : (struct span){ .bad = true };
	struct cie cie;

	if (!fde)
		return damaged ? GT_EH_DAMAGED : GT_EH_NO_FUNCTION;
	here = s.bad ? 0 : address_of(image, s.at);
	back = u32(&s);
	if (s.bad || !back || !read_cie(image, here - back, &cie))
		return GT_EH_DAMAGED;
	low = encoded(&s, image, cie.pointers);
	size = encoded(&s, image, cie.pointers & 0x0f);
	if (cie.has_size)
		take(&s, uleb(&s));
	if (s.bad || cie.pointers & INDIRECT)
		return GT_EH_DAMAGED;
	if (pc - low >= size)
		return GT_EH_NO_FUNCTION;
	m.cie = &cie;
	m.at = low;
	m.pc = UINT64_MAX; /* the CIE's instructions hold for the whole function */
	run(&m, cie.instructions);
	m.pc = pc;
	m.at = low;
	m.initial = m.row;
	run(&m, s);
	*row = m.row;
	row->is_signal_frame = cie.is_signal_frame;
	return m.bad ? GT_EH_DAMAGED : GT_EH_FOUND;
}
