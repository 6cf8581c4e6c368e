#include "collect/bpf/usdt/usdt_arguments.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool take_number(const char **p, uint64_t *to)
{
	char *end;

	errno = 0;
	*to = **p == '-' ? (uint64_t)strtoll(*p, &end, 0) : strtoull(*p, &end, 0);
	if (end == *p || errno)
		return false;
	*p = end;
	return true;
}

/* ---- x86-64 ---- */

/* By their numbers in instructions: the names of 8, 4, 2 bytes and of the lowest byte. */
static const char names[][4][6] = { { "rax", "eax", "ax", "al" }, { "rcx", "ecx", "cx", "cl" },
	{ "rdx", "edx", "dx", "dl" }, { "rbx", "ebx", "bx", "bl" }, { "rsp", "esp", "sp", "spl" },
	{ "rbp", "ebp", "bp", "bpl" }, { "rsi", "esi", "si", "sil" }, { "rdi", "edi", "di", "dil" },
	{ "r8", "r8d", "r8w", "r8b" }, { "r9", "r9d", "r9w", "r9b" },
	{ "r10", "r10d", "r10w", "r10b" }, { "r11", "r11d", "r11w", "r11b" },
	{ "r12", "r12d", "r12w", "r12b" }, { "r13", "r13d", "r13w", "r13b" },
	{ "r14", "r14d", "r14w", "r14b" }, { "r15", "r15d", "r15w", "r15b" },
	{ "rip", "", "", "" } };
#define NAMES (sizeof(names) / sizeof(*names))

/* The register at *p, which begins with a %, and *p behind it. False: it is not one that the kernel
 * saves. */
static bool take_register(const char **p, uint8_t *number, uint8_t *shift)
{
	size_t n = strspn(*p + (**p == '%'), "abcdefghijklmnopqrstuvwxyz0123456789");
	const char *name = *p + 1;

	if (**p != '%' || !n)
		return false;
	*p += 1 + n;
	*shift = 0;
	for (uint8_t i = 0; i < NAMES; i++)
		for (unsigned k = 0; k < 4; k++)
			if (strlen(names[i][k]) == n && !memcmp(names[i][k], name, n)) {
				*number = i;
				return true;
			}
	/* the second byte of the first four */
	for (uint8_t i = 0; i < 4; i++)
		if (n == 2 && name[0] == names[i][3][0] && name[1] == 'h') {
			*number = i;
			*shift = 8;
			return true;
		}
	return false;
}

/* (BASE,INDEX,SCALE), each of which may be missing. */
static bool take_address(const char **p, struct gt_bpf_usdt_argument *a)
{
	uint64_t scale = 1;
	uint8_t shift;

	a->operand = GT_BPF_MEMORY;
	++*p;
	if (**p == '%' && !take_register(p, &a->base, &shift))
		return false;
	if (**p == ',' && (++*p, !take_register(p, &a->index, &shift)))
		return false;
	if (**p == ',' && (++*p, !take_number(p, &scale)))
		return false;
	while (a->scale < 3 && 1ull << a->scale != scale)
		a->scale++;
	return 1ull << a->scale == scale && **p == ')' && ++*p;
}

static bool take_x86_operand(const char **p, struct gt_bpf_usdt_argument *a)
{
	if (**p == '$')
		return ++*p, take_number(p, &a->constant);
	if (**p == '%') {
		a->operand = GT_BPF_REGISTER;
		return take_register(p, &a->base, &a->shift);
	}
	return (**p == '(' || take_number(p, &a->constant)) && **p == '(' && take_address(p, a);
}

/* ---- aarch64 ---- */

/* x0 to x30, their lower halves w0 to w30, and sp, which is number 31 here. */
static bool take_arm_register(const char **p, uint8_t *number)
{
	uint64_t n = 31;

	if (!strncmp(*p, "sp", 2)) {
		*p += 2;
	} else {
		if ((**p != 'x' && **p != 'w') || !strchr("0123456789", (*p)[1]))
			return false;
		++*p;
		if (!take_number(p, &n) || n > 30)
			return false;
	}
	*number = (uint8_t)n;
	return true;
}

/* Some compilers write a # before constants. */
static bool take_arm_constant(const char **p, struct gt_bpf_usdt_argument *a)
{
	*p += **p == '#';
	return take_number(p, &a->constant);
}

/* [BASE] or [BASE, DISPLACEMENT], a register, or a constant. */
static bool take_arm_operand(const char **p, struct gt_bpf_usdt_argument *a)
{
	if (**p != '[') {
		a->operand = strchr("xws", **p) ? GT_BPF_REGISTER : GT_BPF_CONSTANT;
		return a->operand == GT_BPF_REGISTER ? take_arm_register(p, &a->base)
						     : take_arm_constant(p, a);
	}
	a->operand = GT_BPF_MEMORY;
	++*p;
	if (!take_arm_register(p, &a->base))
		return false;
	if (**p == ',') {
		*p += 1 + strspn(*p + 1, " ");
		if (!take_arm_constant(p, a))
			return false;
	}
	return **p == ']' && ++*p;
}

/* ---- arguments ---- */

static bool take_operand(const char **p, uint16_t machine, struct gt_bpf_usdt_argument *a)
{
	a->base = a->index = GT_BPF_NO_REGISTER;
	return machine == EM_X86_64     ? take_x86_operand(p, a)
		: machine == EM_AARCH64 ? take_arm_operand(p, a)
					: false;
}

/* The kind of a value; GT_PROBE_KINDS: its size is wrong. */
static enum gt_probe_kind kind_of(const struct gt_bpf_usdt_argument *a, bool is_float)
{
	if (a->bits != 8 && a->bits != 16 && a->bits != 32 && a->bits != 64)
		return GT_PROBE_KINDS;
	if (is_float)
		return a->bits == 64    ? GT_PROBE_FLOAT
			: a->bits == 32 ? GT_PROBE_FLOAT32
					: GT_PROBE_KINDS;
	return a->is_signed     ? GT_PROBE_SIGNED
		: a->bits == 64 ? GT_PROBE_MAYBE_TEXT
				: GT_PROBE_UNSIGNED;
}

/* An argument of n characters. Without a size it has that of a register. */
static enum gt_probe_kind parse_argument(
	const char *p, size_t n, uint16_t machine, struct gt_bpf_usdt_argument *a)
{
	const char *end = p + n, *at = memchr(p, '@', n);
	bool is_float = false;
	uint64_t size = 8;

	if (at) {
		a->is_signed = *p == '-';
		p += a->is_signed;
		if (*p < '1' || *p > '8')
			return GT_PROBE_KINDS;
		size = (uint64_t)(*p++ - '0');
		is_float = *p == 'f';
		p += is_float;
		if (p++ != at)
			return GT_PROBE_KINDS;
	}
	a->bits = (uint8_t)(size * 8);
	return take_operand(&p, machine, a) && p == end ? kind_of(a, is_float) : GT_PROBE_KINDS;
}

/* Up to the next space; there may be spaces within brackets. */
static size_t length_of(const char *text)
{
	size_t n = strcspn(text, " [");

	if (text[n] == '[')
		n += strcspn(text + n, "]");
	return n + strcspn(text + n, " ");
}

unsigned gt_usdt_arguments_parse(
	const char *text, uint16_t machine, struct gt_bpf_usdt_site *to, char bad[64])
{
	struct gt_bpf_probe_fields *f = &to->fields;
	unsigned number = 0, nbad = 0;

	memset(f, 0, sizeof(*f));
	while (*(text += strspn(text, " ")) && number < GT_PROBE_VALUES) {
		struct gt_bpf_usdt_argument a = { 0 };
		size_t n = length_of(text);
		enum gt_probe_kind kind = parse_argument(text, n, machine, &a);

		if (kind != GT_PROBE_KINDS) {
			f->fields[f->n] = (uint8_t)GT_PROBE_FIELD(kind, number);
			to->arguments[f->n++] = a;
		} else if (!nbad++)
			snprintf(bad, 64, "%.*s", (int)(n < 63 ? n : 63), text);
		text += n;
		number++;
	}
	gt_bpf_set_texts(f);
	return nbad;
}
