/* Formats of tracepoints, in the form of the kernel's files, and values of their records. */
#include "collect/probes/tracepoint_format.h"

#include <errno.h>
#include <string.h>
#include "tests/unit/t.h"

#define COMMON                                                                                     \
	"format:\n"                                                                                \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"                     \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
static const char text[] = "name: example\nID: 314\n" COMMON
			   "\tfield:unsigned long address;\toffset:8;\tsize:8;\tsigned:0;\n"
			   "\tfield:int result;\toffset:16;\tsize:4;\tsigned:1;\n"
			   "\tfield:u32 count;\toffset:20;\tsize:4;\tsigned:0;\n"
			   "\tfield:char comm[8];\toffset:24;\tsize:8;\tsigned:0;\n"
			   "\tfield:unsigned long args[6];\toffset:32;\tsize:48;\tsigned:0;\n"
			   "\tfield:__data_loc char[] name;\toffset:80;\tsize:4;\tsigned:0;\n"
			   "\tfield:__rel_loc char[] dev;\toffset:84;\tsize:4;\tsigned:0;\n"
			   "\tfield:__data_loc u32[] list;\toffset:88;\tsize:4;\tsigned:0;\n"
			   "\tfield:const void * ptr;\toffset:92;\tsize:8;\tsigned:0;\n\n"
			   "print fmt: \"%s\", REC->comm\n";

static int read_text(struct gt_tracepoint_format *f, const char *s)
{
	struct gt_err err = GT_ERR_INIT;
	FILE *file = fmemopen((void *)s, strlen(s), "r");
	int rc = file ? gt_tracepoint_format_read(f, file, &err) : -1;

	if (file)
		fclose(file);
	return rc;
}

static void fields(void)
{
	static const char *const names[] = { "address", "result", "count", "comm", "name", "dev",
		"ptr" };
	static const unsigned kinds[] = { GT_TRACEPOINT_HEX, GT_TRACEPOINT_SIGNED,
		GT_TRACEPOINT_UNSIGNED, GT_TRACEPOINT_TEXT, GT_TRACEPOINT_TEXT_AT,
		GT_TRACEPOINT_TEXT_AFTER, GT_TRACEPOINT_HEX };
	struct gt_tracepoint_format f;

	CHECK(!read_text(&f, text));
	CHECK_EQ(f.id, 314);
	CHECK_EQ(f.n, 7);
	for (unsigned i = 0; i < 7 && i < f.n; i++) {
		CHECK_STR(f.fields[i].name, names[i]);
		CHECK_EQ(f.fields[i].kind, kinds[i]);
	}
	CHECK_EQ(read_text(&f, "no format\n"), -EINVAL);
}

static void put(char *record, size_t at, const void *value, size_t size)
{
	memcpy(record + at, value, size);
}

static void values(void)
{
	uint64_t address = 0xffff888012345678ull;
	int32_t result = -12;
	uint32_t count = 4000000000u, name = 96 | 6u << 16, dev = (102 - 88) | 4u << 16;
	struct gt_tracepoint_format f;
	char record[128] = { 0 }, to[16];

	CHECK(!read_text(&f, text));
	put(record, 8, &address, 8);
	put(record, 16, &result, 4);
	put(record, 20, &count, 4);
	put(record, 24, "eightlen", 8); /* without a zero */
	put(record, 80, &name, 4);
	put(record, 84, &dev, 4);
	put(record, 96, "hello", 6);
	put(record, 102, "sda", 4);
	CHECK_EQ(gt_tracepoint_number(&f.fields[0], record, 128), address);
	CHECK_EQ((int64_t)gt_tracepoint_number(&f.fields[1], record, 128), -12);
	CHECK_EQ(gt_tracepoint_number(&f.fields[2], record, 128), 4000000000u);
	gt_tracepoint_text(&f.fields[3], record, 128, to, sizeof(to));
	CHECK_STR(to, "eightlen");
	gt_tracepoint_text(&f.fields[4], record, 128, to, sizeof(to));
	CHECK_STR(to, "hello");
	gt_tracepoint_text(&f.fields[5], record, 128, to, sizeof(to));
	CHECK_STR(to, "sda");
	gt_tracepoint_text(&f.fields[3], record, 128, to, 4);
	CHECK_STR(to, "eig");
}

/* A record that is shorter than its fields. */
static void short_records(void)
{
	uint32_t name = 0xffff | 0xffffu << 16;
	struct gt_tracepoint_format f;
	char record[128] = { 0 }, to[16];

	CHECK(!read_text(&f, text));
	CHECK_EQ(gt_tracepoint_number(&f.fields[0], record, 12), 0);
	put(record, 80, &name, 4);
	gt_tracepoint_text(&f.fields[4], record, 128, to, sizeof(to));
	CHECK_STR(to, "");
	gt_tracepoint_text(&f.fields[4], record, 40, to, sizeof(to));
	CHECK_STR(to, "");
	memset(record, 'x', sizeof(record));
	gt_tracepoint_text(&f.fields[3], record, 27, to, sizeof(to));
	CHECK_STR(to, "xxx");
}

T_MAIN(T(fields), T(values), T(short_records))
