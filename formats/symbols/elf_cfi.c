#include "formats/symbols/elf_cfi.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "formats/base/buf.h"
#include "formats/base/map.h"
#include "formats/symbols/cfi_expression.h"
#include "formats/symbols/elf_file.h"

#define ROWS_MAX 65536          /* of a file; then all are forgotten */
#define FRAME_MAX (64ull << 20) /* bytes; a larger frame counts as damage */
#define OPERATIONS_MAX 64u      /* of an expression */
#define ENTRY_BYTES 16u         /* that a program has, at least, from its entry point on */
#define CALL_BYTES 8u           /* an instruction of a call and its operands, at most */

/* Where the caller's value of a register is. */
enum place {
	SAME,
	UNDEFINED,
	AT_CFA,         /* the word at CFA + number */
	CFA_PLUS,       /* CFA + number */
	OTHER_REGISTER, /* register `other` + number */
	AT_EXPRESSION,  /* the word at the value of expression `number` */
	EXPRESSION      /* its value */
};
struct rule {
	uint8_t place, other;
	int32_t number;
};
struct row {
	uint64_t key; /* address * 2 + is_return */
	bool exists, follows_call;
	bool is_signal; /* the kernel calls the function: its caller was interrupted */
	uint8_t ra;
	struct rule cfa, registers[GT_CPU_REGISTERS];
};
struct gt_elf_cfi {
	struct gt_elf_file file;
	uint64_t entry; /* address */
	Dwarf_CFI *cfi;
	struct gt_map map;
	struct row *rows;
	size_t nrows, rows_cap;
	Dwarf_Op *operations; /* of expressions; an atom 0 ends each */
	size_t noperations, operations_cap;
};

/* ---- open and close ---- */

/* libdw reads .eh_frame as a whole; without section headers, the rest of the file from there on. */
static bool is_small(struct gt_elf_file *f, uint64_t file_bytes)
{
	struct gt_elf_names names = { NULL, 0 };
	Elf_Scn *section = NULL;
	size_t index;
	GElf_Shdr h;

	if (!elf_getshdrstrndx(f->elf, &index))
		names = gt_elf_names(f, index);
	while (names.n && (section = elf_nextscn(f->elf, section))) {
		const char *name =
			gelf_getshdr(section, &h) ? gt_elf_name(&names, h.sh_name) : NULL;

		if (name && !strcmp(name, ".eh_frame"))
			return h.sh_size <= GT_ELF_BYTES;
	}
	return file_bytes <= GT_ELF_BYTES;
}

struct gt_elf_cfi *gt_elf_cfi_open(int fd)
{
	struct gt_elf_cfi *c = calloc(1, sizeof(*c));
	off_t bytes = lseek(fd, 0, SEEK_END);
	GElf_Ehdr h;

	if (!c)
		return NULL;
	if (!gt_elf_open(&c->file, fd) && bytes > 0 && is_small(&c->file, (uint64_t)bytes))
		c->cfi = dwarf_getcfi_elf(c->file.elf);
	if (c->cfi && gelf_getehdr(c->file.elf, &h)) {
		c->entry = h.e_entry;
		return c;
	}
	gt_elf_cfi_close(c);
	return NULL;
}

void gt_elf_cfi_close(struct gt_elf_cfi *c)
{
	if (!c)
		return;
	if (c->cfi)
		dwarf_cfi_end(c->cfi);
	gt_elf_close(&c->file);
	gt_map_release(&c->map);
	free(c->rows);
	free(c->operations);
	free(c);
}

uint64_t gt_elf_cfi_address(const struct gt_elf_cfi *c, uint64_t offset)
{
	return gt_elf_address(&c->file, offset);
}

/* ---- what the file says of an address ---- */

/* Adds a copy of the operations. Its index; -1: there are too many, or there is no memory. */
static int32_t add_expression(struct gt_elf_cfi *c, const Dwarf_Op *ops, size_t n)
{
	const Dwarf_Op end = { 0 };

	if (n > OPERATIONS_MAX || c->noperations > INT32_MAX / 2 ||
		gt_grow(&c->operations, &c->operations_cap, c->noperations + n + 1, sizeof(*ops)))
		return -1;
	memcpy(c->operations + c->noperations, ops, n * sizeof(*ops));
	c->operations[c->noperations + n] = end;
	c->noperations += n + 1;
	return (int32_t)(c->noperations - n - 1);
}

static struct rule make_expression(
	struct gt_elf_cfi *c, enum place place, const Dwarf_Op *ops, size_t n)
{
	const int32_t number = add_expression(c, ops, n);

	return number < 0 ? (struct rule){ .place = UNDEFINED }
			  : (struct rule){ .place = place, .number = number };
}

static bool fits(uint64_t number) { return number + (1ull << 31) < 1ull << 32; }

/* A register + an offset. */
static bool as_register(const Dwarf_Op *op, struct rule *r)
{
	const bool is_short = op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31;
	const uint64_t number = is_short ? op->atom - (uint64_t)DW_OP_breg0 : op->number;
	const uint64_t offset = is_short ? op->number : op->number2;

	if ((!is_short && op->atom != DW_OP_bregx) || number >= GT_CPU_REGISTERS || !fits(offset))
		return false;
	*r = (struct rule){ OTHER_REGISTER, (uint8_t)number, (int32_t)offset };
	return true;
}

static struct rule cfa_rule(struct gt_elf_cfi *c, Dwarf_Frame *frame)
{
	struct rule r = { .place = UNDEFINED };
	Dwarf_Op *ops;
	size_t n;

	if (!dwarf_frame_cfa(frame, &ops, &n) && n && !(n == 1 && as_register(ops, &r)))
		r = make_expression(c, EXPRESSION, ops, n);
	return r;
}

static struct rule register_rule(struct gt_elf_cfi *c, Dwarf_Frame *frame, int number)
{
	Dwarf_Op memory[3], *ops;
	bool is_value, is_offset;
	uint64_t offset;
	size_t n;

	if (dwarf_frame_register(frame, number, memory, &ops, &n))
		return (struct rule){ .place = UNDEFINED };
	if (!n)
		return (struct rule){ .place = ops ? UNDEFINED : SAME };
	if (n == 1 && ops->atom >= DW_OP_reg0 && ops->atom <= DW_OP_reg31)
		return (struct rule){ OTHER_REGISTER, (uint8_t)(ops->atom - DW_OP_reg0), 0 };
	is_value = ops[n - 1].atom == DW_OP_stack_value;
	is_offset = n - is_value == 2 && ops[1].atom == DW_OP_plus_uconst;
	offset = is_offset ? ops[1].number : 0;
	if (ops[0].atom == DW_OP_call_frame_cfa && (is_offset || n - is_value == 1) && fits(offset))
		return (struct rule){ is_value ? CFA_PLUS : AT_CFA, 0, (int32_t)offset };
	return make_expression(c, is_value ? EXPRESSION : AT_EXPRESSION, ops, n);
}

static void read_row(struct gt_elf_cfi *c, uint64_t address, struct row *row)
{
	Dwarf_Frame *frame;
	bool is_signal;
	int ra;

	if (dwarf_cfi_addrframe(c->cfi, address, &frame))
		return;
	ra = dwarf_frame_info(frame, NULL, NULL, &is_signal);
	row->cfa = cfa_rule(c, frame);
	for (unsigned i = 0; i < GT_CPU_REGISTERS; i++)
		row->registers[i] = register_rule(c, frame, (int)i);
	free(frame);
	row->is_signal = is_signal;
	row->ra = (uint8_t)ra;
	row->exists = ra >= 0 && ra < GT_CPU_REGISTERS && row->cfa.place != UNDEFINED;
}

/* Ends a call before this address? Damaged stacks and files that are not those in memory lead to
 * addresses that no call returns to. */
static bool is_behind_call(const struct gt_elf_cfi *c, uint64_t address)
{
	const uint64_t offset = gt_elf_offset(&c->file, address - 1, PF_X);
	uint8_t bytes[CALL_BYTES] = { 0 };
	const uint8_t *end = bytes + sizeof(bytes);

	if (offset == UINT64_MAX || offset + 1 < sizeof(bytes) ||
		!gt_elf_read(&c->file, offset + 1 - sizeof(bytes), bytes, sizeof(bytes)))
		return false;
#ifdef __x86_64__
	if (end[-5] == 0xe8) /* call to an address */
		return true;
	for (int i = 2; i <= 7; i++) /* call through a register or a word of memory */
		if (end[-i] == 0xff && (end[1 - i] >> 3 & 7) == 2)
			return true;
	return false;
#else
	uint32_t word;

	memcpy(&word, end - sizeof(word), sizeof(word));
	return word >> 26 == 0x25 ||                 /* bl */
		(word & 0xfffff000) == 0xd63f0000 || /* blr */
		(word & 0xfefff000) == 0xd63f0000;   /* blraa and the like */
#endif
}

/* Borrowed until the next call; NULL: no memory. */
static const struct row *find_row(struct gt_elf_cfi *c, uint64_t address, bool is_return)
{
	struct row row = { .key = address << 1 | is_return };
	uint32_t i = gt_map_find_item(&c->map, c->rows, sizeof(row), &row.key, sizeof(row.key));

	if (i != UINT32_MAX)
		return &c->rows[i];
	if (c->nrows >= ROWS_MAX) {
		c->nrows = c->noperations = 0;
		gt_map_clear(&c->map);
	}
	read_row(c, address - is_return, &row);
	/* the function that returns from a signal handler is not called */
	row.follows_call = !is_return || row.is_signal || is_behind_call(c, address);
	i = gt_map_add_item(
		&c->map, &c->rows, &c->nrows, &c->rows_cap, sizeof(row), &row, sizeof(row.key));
	return i == UINT32_MAX ? NULL : &c->rows[i];
}

bool gt_elf_cfi_is_return(struct gt_elf_cfi *c, uint64_t address)
{
	const struct row *row = find_row(c, address, true);

	return row && row->follows_call;
}

/* ---- a step ---- */

static enum gt_cfi_step evaluate(const struct gt_elf_cfi *c, const struct rule *rule,
	const struct gt_cfi_context *in, uint64_t *value)
{
	const Dwarf_Op *ops = c->operations + rule->number;
	size_t n = 0;

	while (ops[n].atom)
		n++;
	return gt_cfi_evaluate(ops, n, in, value);
}

/* The value of register `number` in the caller. GT_CFI_UNKNOWN: it is not known. */
static enum gt_cfi_step find_value(const struct gt_elf_cfi *c, const struct rule *rule,
	unsigned number, const struct gt_cfi_context *in, uint64_t *value)
{
	enum gt_cfi_step found = GT_CFI_CALLER;

	switch (rule->place) {
	case SAME:
	case OTHER_REGISTER:
		number = rule->place == SAME ? number : rule->other;
		*value = in->registers->value[number] + (uint64_t)(int64_t)rule->number;
		return gt_cpu_knows(in->registers, number) ? GT_CFI_CALLER : GT_CFI_UNKNOWN;
	case UNDEFINED: return GT_CFI_UNKNOWN;
	case CFA_PLUS:
	case AT_CFA: *value = in->cfa + (uint64_t)(int64_t)rule->number; break;
	default: found = evaluate(c, rule, in, value); break;
	}
	if (found != GT_CFI_CALLER || rule->place == CFA_PLUS || rule->place == EXPRESSION)
		return found;
	if (*value % 8)
		return GT_CFI_IMPOSSIBLE;
	return in->read(in->arg, *value, value) ? GT_CFI_CALLER : GT_CFI_UNREADABLE;
}

/* A frame lies above those that it calls. Only the innermost one may be empty, where the return
 * address is in a register. A signal handler may have a stack of its own. */
static bool is_possible(const struct row *row, const struct gt_cpu_registers *r, uint64_t cfa)
{
	const uint64_t grows = cfa - r->value[GT_CPU_SP];

	return cfa % 8 == 0 && (row->is_signal || (grows <= FRAME_MAX && (grows || !r->is_return)));
}

static enum gt_cfi_step find_caller(const struct gt_elf_cfi *c, const struct row *row,
	const struct gt_cfi_context *in, struct gt_cpu_registers *to)
{
	enum gt_cfi_step found = GT_CFI_CALLER;
	uint64_t value;

	for (unsigned i = 0; i < GT_CPU_REGISTERS; i++) {
		found = find_value(c, &row->registers[i], i, in, &value);
		if (found == GT_CFI_CALLER)
			gt_cpu_set(to, i, value);
		else if (i == row->ra || found == GT_CFI_IMPOSSIBLE)
			return found;
	}
	if (!gt_cpu_knows(to, GT_CPU_SP))
		gt_cpu_set(to, GT_CPU_SP, in->cfa);
	return GT_CFI_CALLER;
}

enum gt_cfi_step gt_elf_cfi_step(struct gt_elf_cfi *c, uint64_t bias, struct gt_cpu_registers *r,
	gt_cpu_read *read, void *arg)
{
	const struct row *row = find_row(c, r->pc - bias, r->is_return);
	struct gt_cfi_context in = { .registers = r, .read = read, .arg = arg };
	struct gt_cpu_registers caller = { .known = 0 };
	enum gt_cfi_step found;
	if (!row || !row->exists)
		return r->pc - bias - c->entry < ENTRY_BYTES ? GT_CFI_END : GT_CFI_NO_ENTRY;
	if (row->registers[row->ra].place == UNDEFINED)
		return GT_CFI_END;
	if (GT_CPU_RA == GT_CPU_REGISTERS - 1) /* expressions of x86-64 have the pc there */
		gt_cpu_set(r, GT_CPU_RA, r->pc);
	found = find_value(c, &row->cfa, 0, &in, &in.cfa);
	if (found != GT_CFI_CALLER)
		return found;
	if (!is_possible(row, r, in.cfa))
		return GT_CFI_IMPOSSIBLE;
	found = find_caller(c, row, &in, &caller);
	if (found != GT_CFI_CALLER)
		return found;
	caller.pc = caller.value[row->ra] & GT_CPU_CODE_MASK;
	caller.is_return = !row->is_signal;
	*r = caller;
	return r->pc ? GT_CFI_CALLER : GT_CFI_END;
}
