/* Other tools' files through gt_open_any, as every tool sees them. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>
#include "tests/unit/formats/import/imported.h"

#define B(ts, id, name, more)                                                                      \
	"{\"ts\":" ts ",\"op_id\":" id ",\"phase\":\"B\",\"name\":\"" name "\"" more "}\n"
#define E(ts, id, name, more)                                                                      \
	"{\"ts\":" ts ",\"op_id\":" id ",\"phase\":\"E\",\"name\":\"" name "\"" more "}\n"

static void format_b(void)
{
	CHECK(lists(B("0.000001000", "0", "cuInit", ",\"details\":{\"flags\":0}")
			    E("0.000050000", "0", "cuInit", ",\"details\":{\"status\":3}"),
		"C 0/0 cuInit 1000+49000 d0 r3 flags=0\n"));
	CHECK(lists(B("1.0", "1", "a", "") B("2.000000000", "2", "b", "") E("3", "2", "b", "")
			    E("4e0", "1", "a", ""),
		"C 0/0 a 1000000000+3000000000 d0 r0\nC 0/0 b 2000000000+1000000000 d1 r0\n"));
	CHECK(lists(
		"{\"name\":\"a\",\"x\":[{}],\"phase\":\"B\",\"op_id\":-1,\"ts\":1e-9}\n { \"phase\" : \"E\", \"ts\": 3E-9, \"op_id\":-1 ,"
		"\"name\": \"\\u0061\" } ",
		"C 0/0 a 1+2 d0 r0\n"));
	CHECK(lists("{\"ts\":1,\"op_id\":1,\"name\":\"moment\",\"args\":{\"k\":1}}",
		"I 0/0 moment 1000000000+0 d0 r0 k=1\n"));
}

static void pids_and_tids(void)
{
	CHECK(lists(
		B("1.000000000", "1", "a", ",\"pid\":7,\"tid\":8") B("1.000000001", "1", "a",
			",\"pid\":9,\"tid\":9") B("1.000000002", "2", "b", ",\"pid\":7,\"tid\":10")
			E("1.000000003", "1", "a", ",\"pid\":7,\"tid\":8")
				E("1.000000004", "1", "a", ",\"pid\":9,\"tid\":9")
					E("1.000000005", "2", "b", ",\"pid\":7,\"tid\":10"),
		"C 7/8 a 1000000000+3 d0 r0\nC 9/9 a 1000000001+3 d0 r0\nC 7/10 b 1000000002+3 d0 r0\n"));
}

static void arguments(void)
{
	CHECK(lists(
		B("1.000000000", "1", "f",
			",\"details\":{\"u\":5,\"i\":-5,\"h\":\"0xFF\",\"s\":\"q\\\"\",\"t\":true,\"n\":null,\"r\":1.5,"
			"\"grid\":[1,2],\"o\":{\"x\":{\"y\":3}},\"u\":6,\"big\":18446744073709551615,\"huge\":1e30,\"deep\":[[[[[1]]]]]}")
			E("2.000000000", "1", "f", ",\"details\":{\"out\":9,\"status\":-2}"),
		"C 0/0 f 1000000000+1000000000 d0 r-2 u=6 i=-5 h=0xff s='q\"' t=true r=1.5 grid.0=1 grid.1=2 o.x.y=3 "
		"big=18446744073709551615 huge=1e+30 out=9\n"));
	CHECK(lists(B("1.000000000", "1", "f", ",\"details\":[4,\"x\"]") E(
			    "2.000000000", "1", "f", ",\"details\":{\"status\":\"CUDA_ERROR_X\"}"),
		"C 0/0 f 1000000000+1000000000 d0 r999 0=4 1='x' status='CUDA_ERROR_X'\n"));
}

static const struct gt_type *only_type(struct gt_reader *r)
{
	return r && gt_reader_segment(r, 0)->ntypes == 1 ? gt_reader_segment(r, 0)->types : NULL;
}

static void roles_and_categories(void)
{
	static const char text[] = B("1.000000000", "1", "cuMemAlloc_v2",
		",\"details\":{\"dptr\":\"0x7f00\",\"bytesize\":4096}")
		E("2.000000000", "1", "cuMemAlloc_v2", "");
	struct gt_reader *r = open_bytes(text, strlen(text));
	const struct gt_type *t = only_type(r);

	CHECK(t && t->category == GT_CAT_MEMORY && t->op == GT_OP_ALLOC &&
		t->memkind == GT_MEM_DEVICE && t->layer == GT_LAYER_API);
	CHECK(t->nfields == 2 && t->fields[0].role == GT_R_ADDR &&
		t->fields[1].role == GT_R_BYTES && t->fields[1].kind == GT_F_U64);
	gt_reader_close(r);
	CHECK(lists("{\"ts\":1,\"op_id\":1,\"name\":\"x\",\"args\":{\"size\":-1}}",
		"I 0/0 x 1000000000+0 d0 r0 size=-1\n"));
	r = gt_open_any(path, NULL);
	t = only_type(r);
	/* no total may take it for 2^64 - 1 bytes */
	CHECK(t && t->fields[0].role == GT_R_NONE);
	gt_reader_close(r);
}

static void format_a(void)
{
	static const char text[] =
		"{\"event_id\":1,\"ts\":0.001,\"type\":\"userspace\",\"name\":\"cuInit\",\"phase\":\"B\"}\n"
		"{\"event_id\":2,\"ts\":0.0015,\"type\":\"kernel\",\"name\":\"nvidia_ioctl\",\"phase\":\"B\"}\n"
		"{\"event_id\":3,\"ts\":0.0017,\"type\":\"kernel\",\"name\":\"nvidia_ioctl\",\"phase\":\"E\",\"duration_us\":200}\n"
		"{\"event_id\":4,\"ts\":0.002,\"type\":\"userspace\",\"name\":\"cuInit\",\"phase\":\"E\"}\n"
		"{\"event_id\":5,\"ts\":0.003,\"type\":\"scheduler\",\"name\":\"nv_sched\",\"duration_us\":1.25}\n"
		"{\"event_id\":6,\"ts\":0.004,\"name\":\"cuMemAlloc\",\"type\":\"memory\",\"size\":1024}\n"
		"{\"event_id\":7,\"ts\":0.0055,\"type\":\"kernel\",\"name\":\"late\",\"phase\":\"E\",\"duration_us\":1000}\n"
		"{\"event_id\":8,\"ts\":0.006,\"type\":\"new\",\"name\":\"lost\",\"phase\":\"E\"}\n";
	const struct gt_segment *seg;
	struct gt_reader *r;

	CHECK(lists(text,
		"C 0/1 userspace cuInit 1000000+1000000 d0 r0\nC 0/2 kernel nvidia_ioctl 1500000+200000 d0 r0\n"
		"S 0/3 scheduler nv_sched 3000000+1250 d0 r0\nI 0/4 memory cuMemAlloc 4000000+0 d0 r0 size=1024\n"
		"S 0/2 kernel late 4500000+1000000 d0 r0\nU 0/0 other lost 6000000+0 d0 r1\n"));
	r = gt_open_any(path, NULL);
	seg = gt_reader_segment(r, 0);
	for (uint32_t i = 0; i < seg->ntypes; i++) {
		const struct gt_type *t = &seg->types[i];

		if (!strcmp(gt_str(seg, t->name), "nvidia_ioctl"))
			CHECK(t->layer == GT_LAYER_IOCTL && t->category == GT_CAT_IOCTL &&
				t->op == GT_OP_IOCTL);
		if (!strcmp(gt_str(seg, t->name), "nv_sched"))
			CHECK(t->layer == GT_LAYER_SCHED && t->category == GT_CAT_SCHEDULER &&
				t->op == GT_OP_SCHED);
		if (!strcmp(gt_str(seg, t->name), "cuMemAlloc"))
			CHECK(t->layer == GT_LAYER_API && t->op == GT_OP_ALLOC &&
				t->fields[0].role == GT_R_BYTES);
	}
	CHECK_STR(gt_str(seg, seg->tracks[seg->ntracks - 1].source), "import jsonl-a");
	gt_reader_close(r);
}

static void unsorted_comes_out_sorted(void)
{
	CHECK(lists(E("9", "3", "c", "") B("5", "2", "b", "") E("6", "2", "b", "")
			    B("1", "1", "a", "") E("2", "1", "a", "") B("8", "3", "c", ""),
		"C 0/0 a 1000000000+1000000000 d0 r0\nC 0/0 b 5000000000+1000000000 d0 r0\nC 0/0 c 8000000000+1000000000 d0 r0\n"));
	CHECK(strstr(list_text(B("2", "1", "a", "") E("3", "1", "a", "") E("1", "9", "z", "")),
		      "U 0/0 z 1000000000+0") == (char *)listing.data);
}

static void unmatched_and_open_are_kept(void)
{
	struct gt_reader *r;

	CHECK(lists(B("1", "1", "twice", "") B("2", "1", "twice", "") E("3", "7", "ended", "")
			    B("4", "8", "last", ",\"args\":{\"x\":1}"),
		"U 0/0 twice 1000000000+0 d0 r0\nO 0/0 twice 2000000000+2000000000 d0 r0\nU 0/0 ended 3000000000+0 d0 r1\n"
		"O 0/0 last 4000000000+0 d1 r0 x=1\n"));
	r = gt_open_any(path, NULL);
	CHECK(r && strstr(gt_reader_segment(r, 0)->meta_json, "\"unmatched\":2") &&
		strstr(gt_reader_segment(r, 0)->meta_json, "\"jsonl-b\""));
	gt_reader_close(r);
}

static void threads_without_ids_get_lanes(void)
{
	CHECK(lists(B("1", "1", "a", "") B("2", "2", "b", "") E("3", "1", "a", "")
			    E("4", "2", "b", ""),
		"C 0/0 a 1000000000+2000000000 d0 r0\nC 0/0 overlap 1 b 2000000000+2000000000 d0 r0\n"));
}

#define FIRST_CALL                                                                                 \
	B("0.000001000", "0", "cuInit", ",\"details\":{\"flags\":0}")                              \
	E("0.000050000", "0", "cuInit", ",\"details\":{\"status\":0}")
static const char sample[] =
	FIRST_CALL B("0.000060000", "1", "cu\\u00e9", "") E("0.000070000", "1", "cu\\u00e9", "");

/* The file is cut at every byte. Once the format is recognised there is never an error, and a
 * note always reports the cut, except when the cut is at the end of a line. */
static void cut_at_every_byte(void)
{
	const size_t told = sizeof("{\"ts\":0.000001000,\"op_id\"") - 1;

	for (size_t n = 0; n < sizeof(sample) - 1; n++) {
		struct gt_reader *r = open_bytes(sample, n);
		bool whole = n && (sample[n - 1] == '\n' || sample[n] == '\n');

		CHECK(!r == (n < told));
		CHECK(r || err.code == -EILSEQ);
		CHECK(!r ||
			!!strstr(gt_reader_segment(r, 0)->meta_json, "\"truncated\":true") ==
				!whole);
		CHECK(!r ||
			gt_reader_segment(r, 0)->rows[GT_CALL] ==
				(uint64_t)(n >= sizeof(FIRST_CALL) - 2) +
					(n >= sizeof(sample) - 2));
		gt_reader_close(r);
	}
}

static void bad_lines_name_their_place(void)
{
	static const struct {
		const char *line, *text;
		unsigned at;
	} bad[] = {
		{ "{\"op_id\":1,\"name\":\"x\"}", "without \"ts\"", 0 },
		{ "{\"op_id\":1,\"ts\":1}", "without \"name\"", 0 },
		{ "{\"ts\":1,\"phase\":\"B\",\"name\":\"x\"}", "without \"op_id\"", 0 },
		{ "{\"ts\":\"1\",\"op_id\":1}", "\"ts\" is not a number", 9 },
		{ "{\"ts\":1e30}", "\"ts\" is out of range", 10 },
		{ "{\"ts\":-99999999999}", "\"ts\" is out of range", 18 },
		{ "{\"op_id\":1.5}", "\"op_id\" is not a whole", 12 },
		{ "{\"op_id\":99999999999999999999}", "\"op_id\" is not a whole", 29 },
		{ "{\"name\":null}", "\"name\" is not a string", 12 },
		{ "{\"phase\":\"X\"}", "\"phase\" is neither", 12 },
		{ "{\"ts\":1,}", "expected a key", 8 },
		{ "{\"ts\":1 \"x\"", "expected ','", 8 },
		{ "{\"name\":\"a", "a line ends inside a string", 10 },
		{ "{\"name\":\"\t\"}", "a control character", 9 },
		{ "{\"ts\":01}", "not a number", 7 },
		{ "{\"name\":\"\\q\"}", "an escape", 10 },
		{ "{\"ts\"", "expected ':'", 6 },
	};
	char text[1000];

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct gt_reader *r;

		snprintf(text, sizeof(text), "%s%s\n%s", sample, bad[i].line, sample);
		r = open_bytes(text, strlen(text));
		if (r || err.offset != sizeof(sample) - 1 + bad[i].at ||
			!strstr(err.text, bad[i].text))
			fprintf(stderr, "%s: byte %" PRIu64 " %s\n", bad[i].line,
				err.offset - sizeof(sample) + 1, err.text);
		CHECK(!r && err.code == -EBADMSG && strstr(err.text, bad[i].text));
		CHECK(err.offset == sizeof(sample) - 1 + bad[i].at);
	}
}

static struct gt_reader *generate(size_t lines, void (*line)(struct gt_buf *b, size_t i))
{
	struct gt_buf b = { 0 };
	struct gt_reader *r;

	for (size_t i = 0; i < lines; i++)
		line(&b, i);
	r = open_bytes(b.data, b.len);
	gt_buf_release(&b);
	return r;
}

static bool has_metadata(const char *text)
{
	struct gt_reader *r = gt_open_any(path, NULL);
	bool has = r && strstr(gt_reader_segment(r, 0)->meta_json, text);

	gt_reader_close(r);
	return has;
}

/* A script of bpftrace prints the JSON, and bpftrace the other lines. */
static void lines_of_bpftrace(void)
{
	CHECK(lists(
		"Attaching 2 probes...\n\n"
		"{\"event_id\":1,\"ts\":0.001,\"type\":\"userspace\",\"name\":\"cuInit\",\"phase\":\"B\"}\n"
		"Lost 42 events\nLost 1 events\n"
		"{\"event_id\":2,\"ts\":0.004,\"type\":\"userspace\",\"name\":\"cuInit\",\"phase\":\"E\"}\n"
		"\n\n@count[cuInit]: 1\n@us:\n[0]        1 |@@@@@@|\n[4, 8)     3 |@@@|\n",
		"C 0/1 userspace cuInit 1000000+3000000 d0 r0\n"
		"L 0/0 ? 1000000+3000000 d0 r0\n"));
	CHECK(has_metadata("\"lines_not_json\":5"));
	/* losses before the first line and behind the last one; a name is no loss */
	CHECK(lists("Lost 3 events\n" B("1.0", "1", "a", "") E(
			    "2.0", "1", "a", "") "Lost 9 events\nLost many events\nLost 7 of them",
		"C 0/0 a 1000000000+1000000000 d0 r0\nL 0/0 ? 1000000000+0 d0 r0\n"
		"L 0/0 ? 2000000000+0 d0 r0\n"));
	CHECK(has_metadata("\"lines_not_json\":2"));
	CHECK(lists(B("1.0", "1", "a", "") E("2.0", "1", "a", ""),
		"C 0/0 a 1000000000+1000000000 d0 r0\n"));
	CHECK(!has_metadata("lines_not_json"));
	CHECK(!open_bytes("Attaching 2 probes...\n@a: 1\n", 29) && err.code);
}

static void long_line(struct gt_buf *b, size_t i)
{
	if (i == 1)
		for (unsigned n = 0; n < 3u << 20; n++)
			gt_buf_str(b, "all of it");
	gt_buf_printf(b, "\n{\"ts\":%zu,\"op_id\":1,\"name\":\"n\"}\n", i);
}
static void a_long_line_needs_no_memory(void)
{
	struct gt_reader *r = generate(3, long_line);

	CHECK(r && gt_reader_segment(r, 0)->rows[GT_INSTANT] == 3);
	gt_reader_close(r);
	CHECK(has_metadata("\"lines_not_json\":1"));
}

static const char sample_bad[] = FIRST_CALL B("0.000060000", "1", "cu\\u00e9", "")
	E("0.000070000", "1", "cu\\u00e9", "") "{}\n";

static size_t gz(const char *from, size_t len, char *to, size_t room)
{
	z_stream z = { .next_in = (Bytef *)from,
		.avail_in = (uInt)len,
		.next_out = (Bytef *)to,
		.avail_out = (uInt)room };

	deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
	deflate(&z, Z_FINISH);
	deflateEnd(&z);
	return z.total_out;
}

static void packed_or_plain_makes_no_difference(void)
{
	const size_t half = sizeof(sample) / 2, rest = sizeof(sample) - 1 - half;
	char plain[1000], packed[4000];
	size_t n;

	snprintf(plain, sizeof(plain), "%s", list_text(sample));
	n = gz(sample, half, packed, sizeof(packed));
	n += gz(sample + half, rest, packed + n, sizeof(packed) - n);
	CHECK(!strcmp(list(open_bytes(packed, n)), plain));
	n = ZSTD_compress(packed, sizeof(packed), sample, half, 1);
	n += ZSTD_compress(packed + n, sizeof(packed) - n, sample + half, rest, 1);
	CHECK(!strcmp(list(open_bytes(packed, n)), plain));
	CHECK(!open_bytes(
		packed, ZSTD_compress(packed, sizeof(packed), sample_bad, strlen(sample_bad), 1)));
	CHECK(err.offset == sizeof(sample) - 1 &&
		strstr(err.text, "without \"ts\" (in the unpacked text)"));
	n = ZSTD_compress(packed, sizeof(packed), sample, sizeof(sample) - 1, 1);
	CHECK(!open_bytes(packed, n - 1) && err.code == -EBADMSG && err.offset == n - 1 &&
		strstr(err.text, "cut short"));
}

static void hostile_names(void)
{
	const size_t len = 1u << 20;
	char *text = malloc(2 * len + 400), *at;
	struct gt_reader *r;
	const struct gt_segment *seg;

	at = stpcpy(text, "{\"ts\":1,\"op_id\":1,\"phase\":\"B\",\"name\":\"");
	memset(at, 'n', len);
	at = stpcpy(at + len, "\"}\n{\"ts\":2,\"op_id\":1,\"phase\":\"E\",\"name\":\"");
	memset(at, 'n', len);
	at = stpcpy(at + len, "\"}\n{\"ts\":3,\"op_id\":2,\"name\":\"\xff\\u0001\\\"\\ud800\"}\n");
	r = open_bytes(text, (size_t)(at - text));
	free(text);
	CHECK(r);
	seg = gt_reader_segment(r, 0);
	CHECK(seg->rows[GT_CALL] == 1 && seg->rows[GT_INSTANT] == 1 &&
		seg->rows[GT_UNMATCHED] == 0 && seg->ntypes == 2);
	CHECK(strlen(gt_type_name(seg, 0)) <= GT_STRING_MAX &&
		!strcmp(gt_type_name(seg, 0) + strlen(gt_type_name(seg, 0)) - 3, "..."));
	CHECK_STR(gt_type_name(seg, 1), "\xff\x01\"\xef\xbf\xbd");
	gt_reader_close(r);
}

static void losses_stay_losses(void)
{
	static const char text[] =
		"{\"ts\":1.000000000,\"name\":\"LOST\",\"details\":{\"until\":1.500000001,\"count\":7}}\n"
		"{\"ts\":2.000000000,\"name\":\"LOST\",\"pid\":1,\"tid\":2,\"details\":{\"until\":3.0}}\n"
		"{\"ts\":2.000000000,\"name\":\"LOST\"}\n" B("4", "1", "a", "")
			E("5", "1", "a", "");
	struct gt_reader *r = open_bytes(text, strlen(text));
	struct gt_iter *it =
		r ? gt_iter_open(r, &(struct gt_filter){ .kinds = GT_BIT(GT_LOST) }, NULL) : NULL;
	struct gt_event ev;

	CHECK(it && gt_reader_segment(r, 0)->rows[GT_INSTANT] == 1 &&
		gt_reader_segment(r, 0)->rows[GT_CALL] == 1);
	CHECK(gt_iter_next(it, &ev, NULL) == 1 && ev.row.end == 1500000001 && ev.args[0] == 7 &&
		ev.args[1] == GT_SCOPE_ALL);
	CHECK(gt_iter_next(it, &ev, NULL) == 1 && ev.row.end == 3000000000 &&
		ev.args[0] == GT_LOST_UNKNOWN && ev.args[1] == GT_SCOPE_TRACK);
	CHECK_EQ(gt_iter_next(it, &ev, NULL), 0);
	gt_iter_close(it);
	gt_reader_close(r);
}

#define SOME 20000
static void forward_line(struct gt_buf *b, size_t i)
{
	gt_buf_printf(b, "{\"ts\":%zu.%09zu,\"op_id\":%zu,\"phase\":\"%c\",\"name\":\"f%zu\"}\n",
		i / 1000, i % 1000, i / 2, "BE"[i & 1], i / 2 % 5);
}
static void backward_line(struct gt_buf *b, size_t i) { forward_line(b, SOME - 1 - i); }
static void mixed_line(struct gt_buf *b, size_t i) { forward_line(b, i * 7919 % SOME); }

static void any_order_makes_no_difference(void)
{
	char *sorted = strdup(list(generate(SOME, forward_line)));
	bool same = sorted && !strcmp(sorted, list(generate(SOME, backward_line))) &&
		!strcmp(sorted, list(generate(SOME, mixed_line)));
	size_t len = sorted ? strlen(sorted) : 0;

	free(sorted);
	CHECK(same && len > SOME / 2 * 20);
}

static void thread_line(struct gt_buf *b, size_t i)
{
	gt_buf_printf(b,
		"{\"ts\":%zu.%09zu,\"op_id\":%zu,\"phase\":\"%c\",\"name\":\"f\",\"pid\":1,\"tid\":%zu}\n",
		i / 100000, i % 100000, i / 2, "BE"[i & 1], i / 2 + 1);
}
static void many_threads(void)
{
	struct gt_reader *r = generate(200000, thread_line);

	CHECK(r);
	CHECK(gt_reader_segment(r, 0)->ntracks == 100001 &&
		gt_reader_segment(r, 0)->rows[GT_CALL] == 100000);
	gt_reader_close(r);
	CHECK(!generate(2 * (1u << 17) + 2, thread_line) && err.code == -E2BIG &&
		err.offset != GT_NO_OFFSET);
}

static void schema_line(struct gt_buf *b, size_t i)
{
	gt_buf_printf(b,
		"{\"ts\":%zu,\"op_id\":1,\"name\":\"n%zu\",\"details\":{\"k%zu\":\"v%zu\",\"size\":1}}\n",
		i, i % 7, i, i);
}
static void many_schemas(void)
{
	struct gt_reader *r = generate(50000, schema_line);

	CHECK(r && gt_reader_segment(r, 0)->rows[GT_INSTANT] == 50000);
	CHECK(!strstr(gt_reader_segment(r, 0)->meta_json, "\"arguments_left_out\":0"));
	gt_reader_close(r);
}

static void array_line(struct gt_buf *b, size_t i)
{
	gt_buf_printf(b, "{\"ts\":%zu,\"op_id\":1,\"name\":\"n\",\"details\":[0", i);
	for (unsigned n = 1; n < 100000; n++)
		gt_buf_printf(b, ",%u", n);
	gt_buf_str(b, "]}\n");
}
static void long_arrays(void)
{
	struct gt_reader *r = generate(3, array_line);
	const struct gt_segment *seg = r ? gt_reader_segment(r, 0) : NULL;

	CHECK(r && seg->rows[GT_INSTANT] == 3 && seg->ntypes == 1 &&
		seg->types[0].nfields == GT_FIELDS_MAX && seg->nstrings < 100);
	CHECK(strstr(seg->meta_json, "\"arguments_left_out\":299808"));
	gt_reader_close(r);
}

static void key_line(struct gt_buf *b, size_t i)
{
	gt_buf_printf(b,
		"{\"ts\":%zu,\"op_id\":1,\"name\":\"n%zu\",\"details\":{\"%0*zu\":1,\"s\":\"%0*zu\"}}\n",
		i, i, 200, i, 500, i);
}
static void arguments_do_not_crowd_out_names(void)
{
	struct gt_reader *r = generate(40000, key_line);

	CHECK(r && gt_reader_segment(r, 0)->rows[GT_INSTANT] == 40000);
	CHECK(!strcmp(gt_type_name(gt_reader_segment(r, 0), gt_reader_segment(r, 0)->ntypes - 1),
		"n39999"));
	gt_reader_close(r);
}

static void name_line(struct gt_buf *b, size_t i)
{
	gt_buf_printf(b, "{\"ts\":%zu,\"op_id\":1,\"name\":\"%0*zu\"}\n", i, 1000, i);
}
static void too_many_names_are_an_error(void)
{
	CHECK(!generate(30000, name_line) && err.code == -E2BIG &&
		strstr(err.text, "different names") && err.offset != GT_NO_OFFSET);
}

static void open_line(struct gt_buf *b, size_t i)
{
	gt_buf_printf(
		b, "{\"ts\":%zu,\"op_id\":%zu,\"phase\":\"B\",\"name\":\"f\"}\n", i / 1000, i);
}
static void many_open_calls(void)
{
	struct gt_reader *r = generate(150000, open_line);
	const struct gt_segment *seg = r ? gt_reader_segment(r, 0) : NULL;

	CHECK(r && seg->rows[GT_OPEN] == (1u << 17) &&
		seg->rows[GT_UNMATCHED] == 150000 - (1u << 17));
	gt_reader_close(r);
}

#ifdef __SANITIZE_ADDRESS__
#define MOST_MIB 1536 /* its shadow and its quarantine count, too */
#else
#define MOST_MIB 256
#endif
static void memory_stays_bounded(void)
{
	struct rusage use;

	/* of everything above, with the texts the tests themselves hold */
	getrusage(RUSAGE_SELF, &use);
	CHECK(use.ru_maxrss < MOST_MIB << 10);
}

static void other_files(void)
{
	CHECK(!open_bytes("", 0) && err.code == -EILSEQ);
	CHECK(!open_bytes("{\"trace_events\":[]}", 19) && err.code == -EILSEQ);
	CHECK(!open_bytes("name,time\n", 10) && err.code == -EILSEQ);
	CHECK(!open_bytes("[{\"ts\":1,\"op_id\":1}]", 20) && err.code == -EILSEQ);
	err = (struct gt_err)GT_ERR_INIT;
	CHECK(!gt_open_any("/tmp", &err) && err.code == -EISDIR);
	err = (struct gt_err)GT_ERR_INIT;
	CHECK(!gt_open_any("/no/such/file", &err) && err.code == -ENOENT);
}

static void without_a_place_for_the_temporary_file(void)
{
	char *old = getenv("TMPDIR") ? strdup(getenv("TMPDIR")) : NULL;
	struct gt_reader *r;

	setenv("TMPDIR", "/no/such/folder", 1);
	r = open_bytes(sample, strlen(sample));
	if (old)
		setenv("TMPDIR", old, 1);
	else
		unsetenv("TMPDIR");
	free(old);
	CHECK(!r && err.code == -ENOENT && strstr(err.text, "/no/such/folder"));
}

static void without_room_for_the_temporary_file(void)
{
	struct rlimit old, small;
	struct gt_reader *r;

	put_file(sample, strlen(sample));
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &old);
	small = (struct rlimit){ 100, old.rlim_max };
	err = (struct gt_err)GT_ERR_INIT;
	setrlimit(RLIMIT_FSIZE, &small);
	r = gt_open_any(path, &err);
	setrlimit(RLIMIT_FSIZE, &old);
	CHECK(!r && err.code == -EFBIG && strstr(err.text, "cannot store the imported trace"));
}

static int count_summaries(void *arg, const struct gt_block_info *b)
{
	unsigned *n = arg;

	n[b->upper] += !b->kind;
	return 0;
}

/* n[0]: blocks with summaries of blocks; n[1]: of the upper levels. */
static void find_summaries(struct gt_reader *r, unsigned n[2])
{
	n[0] = n[1] = 0;
	CHECK(r && !gt_each_block(r, count_summaries, n, &err));
	gt_reader_close(r);
}

static void only_gtview_needs_summaries(void)
{
	struct gt_buf text = { 0 };
	unsigned n[2];

	for (unsigned i = 0; i < 500; i++)
		gt_buf_printf(&text, B("%u", "%u", "f", "") E("%u.5", "%u", "f", ""), i, i, i, i);
	find_summaries(open_bytes(text.data, text.len), n);
	CHECK(!n[0] && !n[1]);
	find_summaries(gt_open_any_indexed(path, &err), n);
	CHECK(n[0] && n[1]);
	gt_buf_release(&text);
}

T_MAIN(T(the_beginning), T(format_b), T(pids_and_tids), T(arguments), T(roles_and_categories),
	T(format_a), T(unsorted_comes_out_sorted), T(unmatched_and_open_are_kept),
	T(threads_without_ids_get_lanes), T(cut_at_every_byte), T(bad_lines_name_their_place),
	T(lines_of_bpftrace), T(a_long_line_needs_no_memory),
	T(packed_or_plain_makes_no_difference), T(hostile_names), T(losses_stay_losses),
	T(any_order_makes_no_difference), T(many_threads), T(many_schemas), T(long_arrays),
	T(arguments_do_not_crowd_out_names), T(too_many_names_are_an_error), T(many_open_calls),
	T(memory_stays_bounded), T(other_files), T(without_a_place_for_the_temporary_file),
	T(without_room_for_the_temporary_file), T(only_gtview_needs_summaries), T(the_end))
