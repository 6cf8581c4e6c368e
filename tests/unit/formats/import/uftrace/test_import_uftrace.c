/* Folders of uftrace through gt_open_any, as every tool sees them. The records are written by hand,
 * in the form of uftrace 0.13. */
#define _GNU_SOURCE
#include <sys/stat.h>
#include "tests/unit/formats/import/imported.h"
#include "tests/unit/own_folder.h"

#define FOLDER "data"
#define BASE 0x560000000000ull /* of the program */
#define LIBRARY 0x7f0000000000ull
#define OPENED 0x7f1000000000ull

enum { ENTRY, EXIT, LOST, EVENT };

static struct gt_buf records;

static void put(const char *name, const void *bytes, size_t len)
{
	char file[64];
	FILE *f;

	snprintf(file, sizeof(file), FOLDER "/%s", name);
	f = fopen(file, "wb");
	if (!f || fwrite(bytes, 1, len, f) != len || fclose(f))
		abort();
}

static void put_text(const char *name, const char *text) { put(name, text, strlen(text)); }

static void put_header(uint32_t version, uint8_t endian)
{
	struct {
		char magic[8];
		uint32_t version;
		uint16_t size;
		uint8_t endian, class;
		uint64_t features, info;
		uint64_t rest;
	} h = { "Ftrace!", version, 40, endian, 2, 0x3ff, 0x3fff, 1024 };
	struct gt_buf info = { 0 };

	gt_buf_add(&info, &h, sizeof(h));
	gt_buf_str(&info, "exename:/tmp/prog\ncmdline:uftrace record \"./prog\"\n");
	put("info", info.data, info.len);
	gt_buf_release(&info);
}

/* A program with main, work and leaf, a library with f, and another one with late, for dlopen. */
static void begin(void)
{
	if (system("rm -rf " FOLDER) || mkdir(FOLDER, 0755))
		abort();
	put_header(4, 1);
	put_text("task.txt",
		"SESS timestamp=1.000000000 pid=7 sid=00ab exename=\"/tmp/prog\"\n"
		"TASK timestamp=1.000000100 tid=7 pid=7\n"
		"TASK timestamp=1.000000200 tid=8 pid=7\n");
	put_text("sid-00ab.map",
		"560000000000-560000005000 r-xp 00000000 00:00 0       /tmp/prog build-id:0e32\n"
		"7f0000000000-7f0000009000 r-xp 00000000 00:00 0       /usr/lib/lib x.so build-id:2c56\n"
		"7fffbca2d000-7fffbca4e000 rw-p 00000000 00:00 0       [stack]\n");
	put_text("prog.sym",
		"# symbols: 5\n# path name: /tmp/prog\n# build-id: 0e32\n"
		"0000000000001000 ? __dynsym_end\n0000000000001000 T main\n"
		"0000000000001100 T work\n0000000000001200 t _ZN2ns4leafEv\n"
		"0000000000001300 ? __func_end\n");
	put_text("lib x.so.sym", "# path name: /usr/lib/lib x.so\n0000000000000040 0010 T f\n");
	put_text("late.so.sym", "# path name: /opt/late.so\n0000000000000000 T late\n");
	gt_buf_clear(&records);
}

static void record(uint64_t time, unsigned type, bool more, unsigned depth, uint64_t address)
{
	uint64_t words[2] = { time,
		type | (uint64_t)more << 2 | 5ull << 3 | (uint64_t)depth << 6 | address << 16 };

	gt_buf_add(&records, words, sizeof(words));
}

#define MAIN (BASE + 0x1005)
#define WORK (BASE + 0x1105)
#define LEAF (BASE + 0x1205)
#define F (LIBRARY + 0x48)

/* The folder as text, with the records of a thread. */
static const char *listed(void)
{
	put("7.dat", records.data, records.len);
	err = (struct gt_err)GT_ERR_INIT;
	return list(gt_open_any(FOLDER, &err));
}

static bool notes(const char *text)
{
	struct gt_reader *r = gt_open_any(FOLDER, &err);
	bool has = r && strstr(gt_reader_segment(r, 0)->meta_json, text);

	gt_reader_close(r);
	return has;
}

static void functions_nest(void)
{
	begin();
	record(1000, ENTRY, false, 0, MAIN);
	record(1010, ENTRY, false, 1, WORK);
	record(1020, ENTRY, false, 2, LEAF);
	record(1030, EXIT, false, 2, LEAF);
	record(1040, EXIT, false, 1, WORK);
	record(1050, ENTRY, false, 1, F);
	record(1060, EXIT, false, 1, F);
	record(1070, EXIT, false, 0, MAIN);
	put("8.dat", records.data, 0);
	CHECK_STR(listed(),
		"S 7/7 main 1000+70 d0 r0 domain='prog'\n"
		"S 7/7 work 1010+30 d1 r0 domain='prog'\n"
		"S 7/7 ns::leaf 1020+10 d2 r0 domain='prog'\n"
		"S 7/7 f 1050+10 d1 r0 domain='lib x.so'\n");
	CHECK(notes("\"command\":\"uftrace record \\\"./prog\\\"\""));
	CHECK(gt_is_trace(FOLDER));
}

/* Arguments, results and data of events are skipped without their specification, also when they
 * look like a record. */
static void arguments(void)
{
	static const char text[16] = "\x05\0hello";

	begin();
	record(1000, ENTRY, true, 0, MAIN);
	record(1001, ENTRY, false, 1, 0x123456789); /* an address without code */
	record(900, ENTRY, false, 1, WORK);         /* earlier */
	gt_buf_add(&records, text, 8);
	record(1010, ENTRY, false, 1, WORK);
	record(1020, EXIT, true, 1, WORK);
	gt_buf_add(&records, text, 16);
	record(1030, EVENT, true, 0, 100001);
	gt_buf_add(&records, text, 8);
	record(1040, EXIT, true, 0, MAIN);
	gt_buf_add(&records, text, 8);
	CHECK_STR(listed(),
		"S 7/7 main 1000+40 d0 r0 domain='prog'\n"
		"S 7/7 work 1010+10 d1 r0 domain='prog'\n"
		"I 7/7 uftrace event 100001 1030+0 d0 r0\n");
	CHECK(notes("\"arguments_not_read\":4"));
}

/* longjmp, exit and losses leave functions without an exit; a loss is one between its neighbours.
 */
static void functions_without_exit(void)
{
	begin();
	record(1000, ENTRY, false, 0, MAIN);
	record(1010, ENTRY, false, 1, WORK);
	record(1020, ENTRY, false, 2, LEAF);
	record(1030, ENTRY, false, 1, F); /* longjmp */
	record(0, LOST, false, 0, 12);
	record(1050, EXIT, false, 2, LEAF);
	record(1060, EXIT, false, 1, F);
	CHECK_STR(listed(),
		"U 7/7 main 1000+0 d0 r0 domain='prog'\n"
		"U 7/7 work 1010+0 d1 r0 domain='prog'\n"
		"U 7/7 ns::leaf 1020+0 d2 r0 domain='prog'\n"
		"L 7/7 ? 1030+20 d0 r0\n"
		"S 7/7 f 1030+30 d1 r0 domain='lib x.so'\n"
		"U 7/7 ns::leaf 1050+0 d0 r1 domain='prog'\n");
}

/* Records that were lost before the first one, or are all there is: the time of the loss is not
 * before them. */
static void loss_at_the_beginning(void)
{
	begin();
	record(0, LOST, false, 0, 12);
	record(1000, ENTRY, false, 0, MAIN);
	record(1010, EXIT, false, 0, MAIN);
	CHECK_STR(listed(),
		"S 7/7 main 1000+10 d0 r0 domain='prog'\n"
		"L 7/7 ? 1000+0 d0 r0\n");
	begin();
	record(0, LOST, false, 0, 12);
	CHECK_STR(listed(), "L 7/7 ? 1000000100+0 d0 r0\n");
}

/* The first bytes of a time can be those of a gz or zst file. */
static void times_like_packed_data(void)
{
	begin();
	record(0x8b1f, ENTRY, false, 0, MAIN);
	record(0x8b20, EXIT, false, 0, MAIN);
	CHECK_STR(listed(), "S 7/7 main 35615+1 d0 r0 domain='prog'\n");
	begin();
	record(0xfd2fb528, ENTRY, false, 0, MAIN);
	record(0xfd2fb529, EXIT, false, 0, MAIN);
	CHECK_STR(listed(), "S 7/7 main 4247762216+1 d0 r0 domain='prog'\n");
}

/* A forked process has the code of its parent; execve gives it another one. */
static void processes(void)
{
	begin();
	put_text("task.txt",
		"SESS timestamp=0.000001000 pid=7 sid=00ab exename=\"/tmp/prog\"\n"
		"TASK timestamp=0.000001000 tid=7 pid=7\n"
		"FORK timestamp=0.000002000 pid=9 ppid=7\n"
		"SESS timestamp=0.000003000 pid=9 sid=00cd exename=\"/tmp/other\"\n"
		"TASK timestamp=0.000003000 tid=9 pid=9\n"
		"NEWS timestamp=0.000003000 later=1\n");
	put_text("sid-00cd.map", "560000000000-560000005000 r-xp 00000000 00:00 0  /tmp/other\n");
	put_text("other.sym", "0000000000001100 T task\n");
	record(2010, ENTRY, false, 1, WORK);
	record(2020, EXIT, false, 1, WORK);
	record(2030, ENTRY, false, 0, MAIN);
	record(3010, ENTRY, false, 0, WORK);
	record(3020, EXIT, false, 0, WORK);
	put("9.dat", records.data, records.len);
	gt_buf_clear(&records);
	CHECK_STR(listed(),
		"S 9/9 work 2010+10 d0 r0 domain='prog'\n"
		"U 9/9 main 2030+0 d0 r0 domain='prog'\n"
		"S 9/9 task 3010+10 d0 r0 domain='other'\n");
}

/* A library that was opened later is known by its base; other addresses have no name. */
static void unknown_functions(void)
{
	begin();
	put_text("task.txt",
		"SESS timestamp=0.000000001 pid=7 sid=00ab exename=\"/tmp/prog\"\n"
		"TASK timestamp=0.000000001 tid=7 pid=7\n"
		"DLOP timestamp=0.000001500 tid=7 sid=00ab base=7f1000000000 libname=\"/opt/late.so\"\n");
	record(1000, ENTRY, false, 0, OPENED + 4);
	record(1010, EXIT, false, 0, OPENED + 4);
	record(1600, ENTRY, false, 0, OPENED + 4);
	record(1610, EXIT, false, 0, OPENED + 4);
	record(1620, ENTRY, false, 0, BASE + 0x1400);
	record(1630, EXIT, false, 0, BASE + 0x1400);
	CHECK_STR(listed(),
		"S 7/7 0x7f1000000004 1000+10 d0 r0\n"
		"S 7/7 late 1600+10 d0 r0 domain='late.so'\n"
		"S 7/7 prog+0x1400 1620+10 d0 r0 domain='prog'\n");
}

static void names_of_threads(void)
{
	struct {
		uint32_t type;
		uint16_t misc, size;
		uint32_t pid, tid;
		char name[16];
		uint32_t sample_pid, sample_tid;
		uint64_t time;
	} comm = { 3, 0, 48, 7, 7, "my worker", 7, 7, 500 },
	  other = { 14, 0, 48, 7, 7, "x", 7, 7, 600 };

	begin();
	gt_buf_add(&records, &other, sizeof(other));
	gt_buf_add(&records, &comm, sizeof(comm));
	put("perf-cpu0.dat", records.data, records.len);
	put("kernel-cpu0.dat", "", 0);
	gt_buf_clear(&records);
	record(1000, ENTRY, false, 0, MAIN);
	record(1010, EXIT, false, 0, MAIN);
	CHECK_STR(listed(), "S 7/7 my worker main 1000+10 d0 r0 domain='prog'\n");
	CHECK(notes("\"kernel_files_not_read\":1"));
}

static void end_is_missing(void)
{
	begin();
	record(1000, ENTRY, false, 0, MAIN);
	record(1010, EXIT, false, 0, MAIN);
	record(1020, ENTRY, false, 0, MAIN);
	records.len -= 3;
	CHECK_STR(listed(), "S 7/7 main 1000+10 d0 r0 domain='prog'\n");
	CHECK(notes("\"truncated\":true"));
}

static void damage(void)
{
	begin();
	record(1000, ENTRY, false, 0, MAIN);
	gt_buf_str(&records, "0123456789abcdef");
	CHECK_STR(listed(), "7.dat: byte 16: not a record of uftrace");
	begin();
	record(1000, ENTRY, true, 0, MAIN);
	for (int i = 0; i < 1000; i++)
		gt_buf_str(&records, "01234567");
	CHECK_STR(listed(), "7.dat: byte 16: no record behind 4096 bytes of arguments");
	put_text("sid-00ab.map", "x\n");
	CHECK_STR(listed(), "sid-00ab.map: line 1: not a mapping");
	CHECK(!unlink(FOLDER "/sid-00ab.map"));
	CHECK_STR(listed(), "sid-00ab.map is missing");
	CHECK(!mkfifo(FOLDER "/sid-00ab.map", 0600)); /* it does not wait for a writer */
	CHECK_STR(listed(), "sid-00ab.map: cannot open: not a regular file");
	put_text("task.txt", "\nTASK timestamp=x tid=1\n");
	CHECK_STR(listed(), "task.txt: line 2: the line has no valid time, pid or tid");
	put_header(3, 1);
	CHECK_STR(listed(), "info: version 3 of uftrace's format, but only version 4 is read");
	put_header(4, 2);
	CHECK_STR(listed(), "info: the recording is big endian");
	begin();
	CHECK(!unlink(FOLDER "/task.txt"));
	CHECK_STR(listed(), "task.txt is missing");
	begin();
	record(1000, ENTRY, false, 0, WORK);
	put_text("prog.sym", "# path name: /tmp/prog\nnothing\n");
	CHECK_STR(listed(), "prog.sym: line 2: not a symbol");
	put_text("info", "other");
	CHECK(!gt_is_trace(FOLDER));
}

T_MAIN_IN_OWN_FOLDER(T(functions_nest), T(arguments), T(functions_without_exit),
	T(loss_at_the_beginning), T(times_like_packed_data), T(processes), T(unknown_functions),
	T(names_of_threads), T(end_is_missing), T(damage))
