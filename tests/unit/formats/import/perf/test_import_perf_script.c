/* The output of perf script through gt_open_any, as every tool sees it. */
#define _GNU_SOURCE
#include "tests/unit/formats/import/stacks_of.h"

#define LEAF "\t            11ba leaf+0x11 (/tmp/a b/p)\n"
#define MAIN "\t            126d main+0x37 (/tmp/a b/p)\n"
#define KERNEL "\tffffffff8161a579 __rmqueue_pcplist+0x49 ([kernel.kallsyms])\n"

/* The default fields, with call chains. */
static void call_chains(void)
{
	static const char text[] =
		"p 12891   684.119382:     250000 task-clock: \n" LEAF MAIN "\n"
		"my worker 12892   684.119630:     250000 task-clock:u: \n" KERNEL LEAF
		"\t      1040000000 [unknown] ([unknown])\n\n"
		"p 12891   684.119882:     250000 task-clock: \n" LEAF MAIN "\n";

	CHECK(lists(text,
		"I 0/12891 p sample 684119382000+0 d0 r0 period=250000 stack=0\n"
		"I 0/12892 my worker sample 684119630000+0 d0 r0 period=250000 stack=1\n"
		"I 0/12891 p sample 684119882000+0 d0 r0 period=250000 stack=0\n"));
	CHECK_STR(stacks_of(text),
		"0 leaf (p) < main (p)\n"
		"1 __rmqueue_pcplist < leaf (p) < [unknown]\n");
}

/* Without call chains a frame is in the sample's line. */
static void lines_with_a_frame(void)
{
	static const char text[] =
		"               p 17777   714.827798:    2000000 cpu-clock:      5565656841ba leaf+0x11 (/tmp/p)\n"
		"  my 3 worker   17783   714.829786038:    2000000 cpu-clock:      5565656841c4 operator()(int)+0x1b (/tmp/p (deleted))\n"
		"       swapper     0   714.9:    2000000 cpu-clock:      5565656841c4 x+0x1b (/tmp/p)\n";

	CHECK(lists(text,
		"I 0/17777 p sample 714827798000+0 d0 r0 period=2000000 stack=0\n"
		"I 0/17783 my 3 worker sample 714829786038+0 d0 r0 period=2000000 stack=1\n"));
	CHECK_STR(stacks_of(text), "0 leaf (p)\n1 operator()(int) (p (deleted))\n");
	CHECK(notes(text, "\"perf_lines_not_understood\":1"));
}

/* -F comm,pid,tid,cpu,time,period,event,ip,sym,symoff,dso,srcline, and the letters of misc. */
static void all_fields(void)
{
	static const char text[] =
		"my worker 17754/17755 [001] 714.048359:    2000000 task-clock: \n" LEAF
		"  p.c:8\n" MAIN "  ??:0\n\n"
		"p 17754/17754 [000] U 714.050358:    2000000 task-clock: \n"
		"\t            11ba fast (inlined)\n  /src/p.h:3\n" LEAF "  p.c:9\n\n";

	CHECK(lists(text,
		"I 17754/17755 my worker sample 714048359000+0 d0 r0 period=2000000 stack=0\n"
		"I 17754/17754 p sample 714050358000+0 d0 r0 period=2000000 stack=1\n"));
	CHECK_STR(stacks_of(text),
		"0 leaf (p.c:8) < main (p)\n"
		"1 fast (src/p.h:3, inlined) < leaf (p.c:9)\n");
}

/* perf record -k CLOCK_REALTIME */
static void seconds_since_1970(void)
{
	CHECK(lists("p 7   1790000000.119382:     250000 task-clock: \n" LEAF "\n",
		"I 0/7 p sample 1790000000119382000+0 d0 r0 period=250000 stack=0\n"));
}

/* Only clocks count time; a sample of another event has its name and count. */
static void other_events(void)
{
	static const char text[] =
		"p 7   1.000001:   1003 cycles:ppp: \n" LEAF "\n"
		"p 7   1.000002:   cycles: \n" LEAF "\n"
		"p 7   1.000003:   task-clock: \n" LEAF "\n"
		"p 7   1.000004:     5565656841ba leaf\n"
		"p 7 [001]   1.000005: sched:sched_switch: prev_comm=a b prev_pid=7 ==> next_comm=c next_pid=8\n"
		"\t            11ba __schedule+0x1 ([kernel.kallsyms])\n\n";

	CHECK(lists(text,
		"I 0/7 p cycles:ppp 1000001000+0 d0 r0 count=1003 stack=0\n"
		"I 0/7 p cycles 1000002000+0 d0 r0 stack=0\n"
		"I 0/7 p task-clock 1000003000+0 d0 r0 stack=0\n"
		"I 0/7 p (unknown event) 1000004000+0 d0 r0 stack=1\n"
		"I 0/7 p sched:sched_switch 1000005000+0 d0 r0 text='prev_comm=a b prev_pid=7 ==> next_comm=c next_pid=8' stack=2\n"));
	CHECK(notes(text, "\"samples_without_time\":4"));
}

/* Records of tasks give threads their process; losses become losses. */
static void records(void)
{
	CHECK(lists(
		"# ========\n# hostname : vm\n# cmdline : /usr/bin/perf record \"x\" ./p\n#\n"
		"       perf-exec     0     0.000000: PERF_RECORD_COMM: perf-exec:70/70\n"
		"               p    70   714.825788: PERF_RECORD_COMM exec: p:70/70\n"
		"               p    70   714.826485: PERF_RECORD_FORK(70:71):(70:70)\n"
		"               p    70   714.826500: PERF_RECORD_MMAP2 70/70: [0x5(0x1) @ 0 fe:00 1 1]: r-xp /tmp/p\n"
		"               p    70   714.827798:  5 task-clock:      5565656841ba leaf+0x11 (/tmp/p)\n"
		"               w    71   714.829786:  5 task-clock:      5565656841ba leaf+0x11 (/tmp/p)\n"
		"               w    71   714.830000: PERF_RECORD_LOST lost 12\n",
		"I 70/70 p sample 714827798000+0 d0 r0 period=5 stack=0\n"
		"I 70/71 w sample 714829786000+0 d0 r0 period=5 stack=0\n"
		"L 0/0 ? 714830000000+0 d0 r0\n"));
	CHECK(notes("# cmdline : perf record \"x\"\np 7   1.000001:   5 task-clock: \n" LEAF "\n",
		"\"command\":\"perf record \\\"x\\\"\""));
}

/* Functions of CPython with -X perf. */
static void functions_of_python(void)
{
	CHECK_STR(
		stacks_of("python3 7   1.000001:  5 task-clock: \n" LEAF
			  "\t    7f00000011ba py::Model.step:/src/train.py+0xb (/tmp/perf-7.map)\n"
			  "\t    7f00000012ba py:::x (/tmp/perf-7.map)\n"),
		"0 leaf (p) < Model.step (train.py) < py:::x (perf-7.map)\n");
}

static void symbols_only(void)
{
	CHECK_STR(
		stacks_of(
			"p 7   1.000001:  5 task-clock: \n\tadd\n\tstd::vector<int>::at(unsigned long) const\n\n"
			"p 7   1.000002:  5 task-clock: \n\t    7f00000011ba [unknown] (/lib/x.so)\n"),
		"0 add < std::vector<int>::at(unsigned long) const\n"
		"1 x.so+0x7f00000011ba\n");
}

/* Lines of other programs, long ones, and a last line without its end. */
static void damage(void)
{
	char *line = malloc(200001);

	CHECK(line);
	memset(line, 'x', 200000);
	line[200000] = 0;
	put_file("", 0);
	gt_buf_clear(&listing);
	struct gt_buf text = { 0 };
	gt_buf_printf(&text, "p 7   1.000001:  5 task-clock: \n%s\n" LEAF "\t%s (/lib/%s)\n",
		"noise", line, line);
	gt_buf_str(&text, "\np 7   1.000002:  5 task-clock: \n" LEAF "\tffff");
	free(line);
	CHECK_STR(list(open_bytes(text.data, text.len)),
		"I 0/7 p sample 1000001000+0 d0 r0 period=5 stack=0\n"
		"I 0/7 p sample 1000002000+0 d0 r0 period=5 stack=1\n");
	gt_buf_byte(&text, 0);
	CHECK(notes((const char *)text.data, "\"perf_lines_not_understood\":1"));
	CHECK(notes((const char *)text.data, "\"truncated\":true"));
	gt_buf_release(&text);
}

/* Other texts are not for this importer. */
static void other_texts(void)
{
	CHECK(!open_bytes("a b 12.5: c\nd e 1.000001 f\n", 27));
	CHECK(!open_bytes("p 7 task-clock: \n\t 11ba leaf (/tmp/p)\n", 38));
}

T_MAIN(T(the_beginning), T(call_chains), T(lines_with_a_frame), T(all_fields),
	T(seconds_since_1970), T(other_events), T(records), T(functions_of_python), T(symbols_only),
	T(damage), T(other_texts), T(the_end))
