/* The output of strace through gt_open_any, as every tool sees it. */
#define _GNU_SOURCE
#include "tests/unit/formats/import/imported.h"

#define CTL "</dev/nvidiactl<char 195:255>>"
#define RM(nr, size) "_IOC(_IOC_READ|_IOC_WRITE, 0x46, " nr ", " size ")"

static void calls_with_their_durations(void)
{
	CHECK(lists(
		"7 1000000001.000001 read(3</etc/a, b>, \"x) = 9\\\"<0.5>\", 8) = 8 <0.000010>\n"
		"7 1000000001.000020 access(\"/x\", R_OK) = -1 ENOENT (No such file or directory) <0.000005>\n"
		"8 1000000001.000030 brk(NULL)       = 0x5500 <0.000001>\n"
		"8 1000000001.000040 exit_group(0)   = ?\n"
		"8 1000000001.000050 +++ exited with 0 +++\n",
		"C 7/7 read 1000000001000001000+10000 d0 r0 fd=3 path='/etc/a, b' result=8\n"
		"C 7/7 access 1000000001000020000+5000 d0 r-2 path='/x'\n"
		"C 8/8 brk 1000000001000030000+1000 d0 r0 result=0x5500\n"
		"C 8/8 exit_group 1000000001000040000+0 d0 r0\n"
		"I 8/8 exited with 0 1000000001000050000+0 d0 r0\n"));
}

/* Does the metadata of the file have this text? Closes the reader. */
static bool meta_has(struct gt_reader *reader, const char *text)
{
	bool has = reader && strstr(gt_reader_segment(reader, 0)->meta_json, text);

	gt_reader_close(reader);
	return has;
}

/* Names and arguments are those that gtcollect records. */
static void the_drivers_files(void)
{
	CHECK(lists(
		"7 1.0000 openat(AT_FDCWD</w>, \"/dev/nvidia0\", O_RDWR) = 5</dev/nvidia0<char 195:0>> <0.000001>\n"
		"7 1.0001 ioctl(4" CTL ", " RM("0x2a",
			"0x20") ", 0x7ffd) = 0 <0.000003>\n"
				"7 1.0002 ioctl(4" CTL
				", 0xc020462b, 0x7ffd) = -1 EINVAL (Invalid argument) <0.000003>\n"
				"7 1.0003 ioctl(6</dev/nvidia-uvm>, _IOC(_IOC_NONE, 0, 0x1, 0x3000), 0x7ffd) = 0 <0.000003>\n"
				"7 1.0004 ioctl(6</dev/nvidia-uvm>, FIBMAP, 0x7ffd) = 0 <0.000003>\n"
				"7 1.0005 mmap(NULL, 4096, PROT_READ, MAP_SHARED, 5</dev/nvidia0>, 0) = 0x7f00 <0.000003>\n"
				"7 1.0006 close(5</dev/nvidia0>) = 0 <0.000003>\n"
				"7 1.0007 ioctl(1</dev/pts/0>, TCGETS, 0x7ffd) = -1 ENOTTY (Inappropriate ioctl for device) <0.000001>\n"
				"7 1.0008 ioctl(9</memfd:sim:nvidiactl>(deleted), " RM(
					"0x29", "0x10") ", 0x7ffd) = -1 ENOTTY (x) <0.000001>\n",
		"C 7/7 open /dev/nvidia0 1000000000+1000 d0 r0 minor=0\n"
		"C 7/7 ioctl RM_CONTROL 1000100000+3000 d0 r0 minor=255\n"
		"C 7/7 ioctl RM_ALLOC 1000200000+3000 d0 r-22 minor=255\n"
		"C 7/7 ioctl UVM_INITIALIZE 1000300000+3000 d0 r0 minor=0\n"
		"C 7/7 ioctl UVM_RESERVE_VA 1000400000+3000 d0 r0 minor=0\n"
		"C 7/7 mmap /dev/nvidia0 1000500000+3000 d0 r0 minor=0 length=4096\n"
		"C 7/7 close /dev/nvidia0 1000600000+3000 d0 r0 minor=0 fd=5\n"
		"C 7/7 ioctl TCGETS 1000700000+1000 d0 r-25 fd=1 path='/dev/pts/0'\n"
		"C 7/7 ioctl RM_FREE 1000800000+1000 d0 r0 minor=255\n"));
}

/* Without -y the importer finds a descriptor's file by the open of the same process; a thread
 * has the descriptors of its process. */
static void descriptors_without_paths(void)
{
	CHECK(lists(
		"7 12:00:00.0 openat(AT_FDCWD, \"/dev/nvidia-uvm\", O_RDWR) = 5 <0.000001>\n"
		"7 12:00:01.0 clone(child_stack=0x7f, flags=CLONE_VM|CLONE_THREAD|SIGCHLD) = 9 <0.000001>\n"
		"9 12:00:02.0 ioctl(5, 0x25, 0x7ffd) = 0 <0.000001>\n"
		"7 12:00:03.0 dup(5) = 6 <0.000001>\n"
		"7 12:00:04.0 close(5) = 0 <0.000001>\n"
		"9 12:00:05.0 ioctl(6, 0x25, 0x7ffd) = 0 <0.000001>\n"
		"9 12:00:06.0 ioctl(5, 0x25, 0x7ffd) = 0 <0.000001>\n"
		"9 12:00:07.0 ioctl(8, " RM("0x29", "0x10") ", 0x7ffd) = 0 <0.000001>\n",
		"C 7/7 open /dev/nvidia-uvm 43200000000000+1000 d0 r0 minor=0\n"
		"C 7/7 clone 43201000000000+1000 d0 r0 result=9\n"
		"C 7/9 ioctl UVM_REGISTER_GPU 43202000000000+1000 d0 r0 minor=0\n"
		"C 7/7 dup 43203000000000+1000 d0 r0 fd=5 result=6\n"
		"C 7/7 close /dev/nvidia-uvm 43204000000000+1000 d0 r0 minor=0 fd=5\n"
		"C 7/9 ioctl UVM_REGISTER_GPU 43205000000000+1000 d0 r0 minor=0\n"
		"C 7/9 ioctl 0x25 43206000000000+1000 d0 r0 fd=5 result=0\n"
		"C 7/9 ioctl RM_FREE 43207000000000+1000 d0 r0 minor=255\n"));
}

static void unfinished_and_resumed(void)
{
	/* the child's first line is before the end of the clone that made it */
	CHECK(lists("7 1.0 clone3({flags=CLONE_VM|CLONE_THREAD} <unfinished ...>\n"
		    "8 1.1 futex(0x7f, FUTEX_WAIT, 1, NULL <unfinished ...>\n"
		    "7 1.2 <... clone3 resumed> => {parent_tid=[8]}, 88) = 8 <0.150000>\n"
		    "7 1.3 ioctl(4" CTL
		    ", " RM("0x2b", "0x30") " <unfinished ...>\n"
					    "8 1.4 <... futex resumed>) = 0 <0.250000>\n"
					    "7 1.5 <... ioctl resumed>, 0x7ffd) = 0\n",
		"C 7/7 clone3 1000000000+150000000 d0 r0 result=8\n"
		"C 7/8 futex 1100000000+250000000 d0 r0 result=0\n"
		"C 7/7 ioctl RM_ALLOC 1300000000+200000000 d0 r0 minor=255\n"));
	/* killed, open at the end, interrupted and restarted, a first line that is missing */
	CHECK(lists(
		"7 1.0 poll([], 0, 5 <unfinished ...>\n"
		"7 2.0 +++ killed by SIGKILL (core dumped) +++\n"
		"8 3.0 nanosleep({tv_sec=1}, 0x7f) = ? ERESTART_RESTARTBLOCK (Interrupted by signal) <0.1>\n"
		"8 3.2 --- SIGCONT {si_signo=SIGCONT, si_code=SI_USER} ---\n"
		"8 3.3 restart_syscall(<... resuming interrupted nanosleep ...>) = 0 <0.2>\n"
		"9 4.0 <... read resumed>\"x\", 1) = 1 <0.500000>\n"
		"9 5.0 read(0,  <unfinished ...>\n",
		"C 7/7 poll 1000000000+1000000000 d0 r0\n"
		"I 7/7 killed by SIGKILL (core dumped) 2000000000+0 d0 r0\n"
		"C 8/8 nanosleep 3000000000+100000000 d0 r0\n"
		"I 8/8 signal SIGCONT 3200000000+0 d0 r0\n"
		"C 8/8 restart_syscall 3300000000+200000000 d0 r0 result=0\n"
		"C 9/9 read 3500000000+500000000 d0 r0 result=1\n"
		"O 9/9 read 5000000000+0 d0 r0 fd=0\n"));
}

/* Standard error: ids only while there are several threads, and messages within lines. */
static void standard_error(void)
{
	CHECK(lists("23:59:59.900000 set_tid_address(0x7f) = 7 <0.000001>\n"
		    "hello from the program\n"
		    "23:59:59.950000 clone(flags=CLONE_THREADstrace: Process 8 attached\n"
		    ", tls=0x7f) = 8 <0.000002>\n"
		    "[pid     8] 00:00:00.100000 getpid() = 7 <0.000001>\n"
		    "[pid 7] 00:00:00.200000 close(3strace: Process 9 attached\n"
		    "[pid 9] 00:00:00.300000 getpid() = 9 <0.000001>\n",
		"C 7/7 set_tid_address 86399900000000+1000 d0 r0 result=7\n"
		"C 7/7 clone 86399950000000+2000 d0 r0 result=8\n"
		"C 7/8 getpid 86400100000000+1000 d0 r0 result=7\n"
		"C 9/9 getpid 86400300000000+1000 d0 r0 result=9\n"));
	CHECK(meta_has(
		open_bytes("7 1.0 a() = 0 <0.1>\nx\ny\n", 24), "\"lines_not_understood\":2"));
}

static void times(void)
{
	CHECK(lists("7 1700000000.5 getpid() = 7\n",
		"C 7/7 getpid 1700000000500000000+0 d0 r0 result=7\n"));
	CHECK(lists(
		"     0.000000 getpid() = 7\n     0.500000 getpid() = 7\n     0.250000 getpid() = 7\n",
		"C 0/0 getpid 0+0 d0 r0 result=7\nC 0/0 getpid 500000000+0 d0 r0 result=7\n"
		"C 0/0 getpid 750000000+0 d0 r0 result=7\n"));
	CHECK(lists("7 1700000002 getpid() = 7\n7 1700000001 getuid() = 0\n",
		"C 7/7 getuid 1700000001000000000+0 d0 r0 result=0\n"
		"C 7/7 getpid 1700000002000000000+0 d0 r0 result=7\n"));
	CHECK(meta_has(gt_open_any(path, &err), "\"lines_back_in_time\":1"));
	CHECK(meta_has(gt_open_any(path, &err), "\"calls_without_duration\":2"));
	CHECK(!open_bytes("7 close(3) = 0\n7 close(4) = 0\n", 30) &&
		strstr(err.text, "without times"));
}

/* The file may end at any byte, and any byte may be wrong. */
static void damage(void)
{
	static const char line[] =
		"7 1.0 openat(AT_FDCWD</w>, \"/dev/nvidia0\", O_RDWR) = 5</dev/nvidia0> <0.000001>\n"
		"7 1.1 ioctl(5</dev/nvidia0>, " RM("0x2a",
			"0x20") ", 0x7ffd) = -1 EINVAL (x) <0.000003>\n"
				"7 1.2 <... read resumed>) = 0 <0.1>\n7 1.3 +++ exited with 0 +++\n";
	char copy[sizeof(line)];

	for (size_t i = 1; i < sizeof(line) - 1; i++) {
		gt_reader_close(open_bytes(line, i));
		for (unsigned k = 0; k < 4; k++) {
			memcpy(copy, line, sizeof(line));
			copy[i] = "\0\xff<)"[k];
			gt_reader_close(open_bytes(copy, sizeof(line) - 1));
		}
	}
}

/* Metadata of a command with bytes that JSON cannot have. */
static void hostile_command(void)
{
	static const char text[] =
		"7 1.0 execve(\"/b\", [\"a\", \"\0\xff\x01\\\"\"], 0x7f) = 0 <0.1>\n";
	struct gt_reader *r = open_bytes(text, sizeof(text) - 1);

	CHECK(r && strstr(gt_reader_segment(r, 0)->meta_json, "\"command\":\"/b ???"));
	gt_reader_close(r);
}

/* Of a long line the beginning and the end are read. */
static void long_lines(void)
{
	static const char head[] = "7 1.0 write(1, \"", tail[] = "\"..., 9) = 9 <0.000001>\n";
	size_t len = 3 << 20;
	char *text = malloc(len + sizeof(head) + sizeof(tail));

	CHECK(text);
	strcpy(text, head);
	memset(text + sizeof(head) - 1, ',', len);
	strcpy(text + sizeof(head) - 1 + len, tail);
	CHECK(lists(text, "C 7/7 write 1000000000+1000 d0 r0 fd=1 result=9\n"));
	free(text);
}

static void names(void)
{
	CHECK(lists(
		"7<python3> 1.0 execve(\"/usr/bin/python3\", [\"python3\", \"a b\"], 0x7f) = 0 <0.1>\n"
		"[pid 7<main thread>] 2.0 getpid() = 7 <0.1>\n",
		"C 7/7 python3 execve 1000000000+100000000 d0 r0 path='/usr/bin/python3' result=0\n"
		"C 7/7 python3 getpid 2000000000+100000000 d0 r0 result=7\n"));
}

/* A file for each thread: its name has the id. */
static void name_of_the_file(void)
{
	static const char text[] = "1.0 getpid() = 5 <0.000001>\n";
	char of_thread[] = "strace.77";

	put_file(text, sizeof(text) - 1);
	CHECK(!rename(path, of_thread));
	CHECK_STR(list(gt_open_any(of_thread, &err)),
		"C 77/77 getpid 1000000000+1000 d0 r0 result=5\n");
	CHECK(!rename(of_thread, path));
}

static void layers_and_categories(void)
{
	static const char text[] = "7 1.0 futex(0x7f) = 0 <0.1>\n7 2.0 ioctl(4" CTL ", " RM(
		"0x29", "0x10") ", 0x7f) = 0 <0.1>\n"
				"7 3.0 munmap(0x7f, 9) = 0 <0.1>\n7 4.0 made_up(1) = 0 <0.1>\n";
	static const struct {
		const char *name;
		uint8_t layer, category;
	} all[] = { { "futex", GT_LAYER_SYSCALL, GT_CAT_SYNC },
		{ "ioctl RM_FREE", GT_LAYER_IOCTL, GT_CAT_IOCTL },
		{ "munmap", GT_LAYER_SYSCALL, GT_CAT_MEMORY },
		{ "made_up", GT_LAYER_SYSCALL, GT_CAT_OTHER } };
	struct gt_reader *r = open_bytes(text, sizeof(text) - 1);
	const struct gt_segment *seg = gt_reader_segment(r, 0);

	CHECK_EQ(seg->ntypes, 4);
	for (uint32_t i = 0; i < seg->ntypes && i < 4; i++) {
		CHECK_STR(gt_str(seg, seg->types[i].name), all[i].name);
		CHECK_EQ(seg->types[i].layer, all[i].layer);
		CHECK_EQ(seg->types[i].category, all[i].category);
	}
	gt_reader_close(r);
}

T_MAIN(T(the_beginning), T(calls_with_their_durations), T(the_drivers_files),
	T(descriptors_without_paths), T(unfinished_and_resumed), T(standard_error), T(times),
	T(damage), T(names), T(hostile_command), T(long_lines), T(name_of_the_file),
	T(layers_and_categories), T(the_end))
