/* Functions and lines at addresses of this program itself. */
#define _GNU_SOURCE
#include "tests/unit/t.h"
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "formats/symbols/code_places.h"
#include "formats/symbols/debug_lines.h"
#include "formats/symbols/elf_symbols.h"

#define SECOND 1000000000ll

int first_function(int x);
int second_function(int x);
/* clang-format off */
__attribute__((noinline, aligned(64))) int first_function(int x) { return x + 1; }
enum { FIRST_LINE = __LINE__ - 1 };
__attribute__((noinline, aligned(64))) int second_function(int x) { return x + 2; }
enum { SECOND_LINE = __LINE__ - 1 };
/* clang-format on */

static int note_bias(struct dl_phdr_info *info, size_t size, void *bias)
{
	*(uint64_t *)bias = info->dlpi_addr;
	return 1; /* the first one is the program */
}

static uint64_t address_of(int (*f)(int))
{
	uint64_t bias = 0;

	dl_iterate_phdr(note_bias, &bias);
	return (uint64_t)(uintptr_t)f - bias;
}

static struct gt_library_files own_files(struct gt_debug_files *where)
{
	struct gt_library_files files = { .n = 0 };

	where->trust_paths = true;
	gt_debug_files_find(where, "/proc/self/exe", NULL, 0, &files);
	return files;
}

static void check_place(
	const struct gt_code_places *p, uint64_t offset, const char *function, uint32_t line)
{
	const struct gt_code_place *place = gt_code_places_find(p, offset);
	const struct gt_place_level *l = place && place->n ? &p->levels[place->first] : NULL;

	CHECK(place && l);
	if (!l)
		return;
	CHECK_STR(gt_place_text(p, place->symbol), function);
	CHECK_STR(gt_place_text(p, l->function), function);
	CHECK_EQ(l->line, line);
	CHECK(strstr(gt_place_text(p, l->file), "formats/symbols/test_code_places.c"));
}

/* The offset of a frame is behind its instruction: that of the first instruction of a function is
 * one more than the function's address. The function's address itself is a return address of what
 * is before it. */
static void a_place_is_that_of_the_instruction_before(void)
{
	struct gt_debug_files where = { .folders = NULL };
	struct gt_library_files files = own_files(&where);
	struct gt_code_places p = { .n = 0 };
	uint64_t first = address_of(first_function), second = address_of(second_function), swap;
	uint64_t offsets[] = { first, first + 1, second + 1 };
	enum gt_lines_state state;

	if (first > second) {
		swap = offsets[0];
		offsets[0] = second + 1;
		offsets[2] = offsets[1];
		offsets[1] = swap;
	}
	CHECK_EQ(files.n, 1);
	CHECK(!gt_code_places_read(&p, &where, &files, offsets, 3, 20 * SECOND, &state));
	CHECK_EQ(state, GT_LINES_READ);
	check_place(&p, first + 1, "first_function", FIRST_LINE);
	check_place(&p, second + 1, "second_function", SECOND_LINE);
	CHECK(gt_code_places_find(&p, first) && !gt_code_places_find(&p, first + 2));
	if (gt_code_places_find(&p, first)->symbol != GT_NO_TEXT)
		CHECK(strcmp(gt_place_text(&p, gt_code_places_find(&p, first)->symbol),
			"first_function"));
	gt_code_places_release(&p);
	gt_library_files_release(&files);
	gt_debug_files_release(&where);
}

/* Without time there are functions, but no lines, and the state says so. */
static void lines_have_a_limit(void)
{
	struct gt_debug_files where = { .folders = NULL };
	struct gt_library_files files = own_files(&where);
	struct gt_code_places p = { .n = 0 };
	uint64_t offset = address_of(first_function) + 1;
	enum gt_lines_state state;

	for (int64_t ns = 0; ns < 2; ns++) {
		CHECK(!gt_code_places_read(&p, &where, &files, &offset, 1, ns, &state));
		CHECK_EQ(state, ns ? GT_LINES_LATE : GT_LINES_READ);
		CHECK(p.n == 1 && !p.list[0].n);
		CHECK_STR(gt_place_text(&p, p.list[0].symbol), "first_function");
		gt_code_places_release(&p);
	}
	gt_library_files_release(&files);
	gt_debug_files_release(&where);
}

/* ---- many units ---- */

static struct {
	uint64_t *address;
	size_t n;
} own;

/* The functions of this program, sorted. */
static void find_own_functions(const struct gt_library_files *files)
{
	struct gt_elf_symbols symbols;

	CHECK(!gt_elf_symbols_open(&symbols, (const char *const *)files->path, files->n));
	own.address = calloc(symbols.n + 1, sizeof(*own.address));
	own.n = 0;
	for (size_t i = 0; own.address && i < symbols.n; i++)
		if (!own.n || symbols.items[i].at > own.address[own.n - 1])
			own.address[own.n++] = symbols.items[i].at;
	gt_elf_symbols_close(&symbols);
}

static struct {
	unsigned begun, step; /* one unit of `step` is read */
	size_t n;             /* lines */
} reads;

static bool begin_unit(void *arg) { return reads.begun++ % reads.step == 0; }

static void count_lines(void *arg, size_t i, const struct gt_code_level *levels, unsigned n)
{
	reads.n += levels[0].line > 0;
}

static size_t lines_of(const struct gt_library_files *files, unsigned step)
{
	struct gt_debug_files where = { .folders = NULL };

	memset(&reads, 0, sizeof(reads));
	reads.step = step;
	if (gt_debug_lines_read(files->path[0], &where, own.address, own.n,
		    step ? begin_unit : NULL, count_lines, NULL))
		reads.n = 0;
	gt_debug_files_release(&where);
	return reads.n;
}

/* Units that others read are left out; all together they have all lines. */
static void units_may_be_left_out(void)
{
	struct gt_debug_files where = { .folders = NULL };
	struct gt_library_files files = own_files(&where);
	struct gt_code_places p = { .n = 0 };
	enum gt_lines_state state;
	size_t all, n = 0;

	find_own_functions(&files);
	all = lines_of(&files, 0);
	CHECK(all > 20);
	CHECK_EQ(lines_of(&files, 1), all);
	CHECK(reads.begun > 1);
	CHECK(lines_of(&files, 2) > 0 && reads.n < all);
	for (size_t i = 0; i < own.n; i++)
		own.address[i]++;
	CHECK(!gt_code_places_read(&p, &where, &files, own.address, own.n, 60 * SECOND, &state));
	CHECK_EQ(state, GT_LINES_READ);
	for (size_t i = 0; i < p.n; i++)
		n += p.list[i].n && p.levels[p.list[i].first].line;
	CHECK_EQ(n, all);
	free(own.address);
	gt_code_places_release(&p);
	gt_library_files_release(&files);
	gt_debug_files_release(&where);
}

T_MAIN(T(a_place_is_that_of_the_instruction_before), T(lines_have_a_limit),
	T(units_may_be_left_out))
