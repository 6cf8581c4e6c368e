/* PyTorch's Chrome JSON as a document: its metadata, files that are cut or not JSON, numbers and
 * names, and a file that was recorded on a GPU. */
#define _GNU_SOURCE
#include <jansson.h>
#include <math.h>
#include <unistd.h>
#include <zlib.h>
#include "tests/unit/formats/import/imported.h"
#include "tests/unit/formats/import/kineto_text.h"

/* ---- documents ---- */

static void metadata_on_both_sides(void)
{
	static const char text[] =
		"{\"deviceProperties\":[{\"id\":0,\"name\":\"NVIDIA H200\",\"sub\":{\"name\":\"no\"}},{\"name\":\"A \\\"B\\\"\"}],"
		"\"cuda_driver_version\":12040,\"traceEvents\":[" X("cpu_op", "a", "1", "1",
			"1000000", "1",
			"") "],"
			    "\"baseTimeNanoseconds\":1700000000000000000,\"distributedInfo\":{\"rank\":3,\"pg\":[\"x\",{}]},\"traceName\":\"t.json\","
			    "\"huge\":123456789012345678901234567890,\"large\":1e999,\"no\":null,\"twice\":1,\"yes\":true,\"twice\":{\"a\":1,\"a\":2}}";
	struct gt_reader *r;
	const struct gt_segment *seg;

	CHECK(lists(text, "S 1/1 a 1000000000+1000 d0 r0 category='cpu_op'\n"));
	CHECK(meta_says("\"gpus\":[{\"model\":\"NVIDIA H200\"},{\"model\":\"A \\\"B\\\"\"}]") &&
		meta_says("\"cuda_version\":\"12.4\""));
	CHECK(meta_says("\"distributedInfo\":{\"rank\":3,\"pg\":[\"x\",{}]}") &&
		meta_says("\"traceName\":\"t.json\""));
	CHECK(meta_says(
		"\"huge\":\"123456789012345678901234567890\",\"large\":\"1e999\",\"no\":null,\"twice\":{\"a\":2},\"yes\":true"));
	CHECK(meta_says("\"start_utc\":\"2023-11-14T22:13:21Z\""));
	r = again();
	seg = gt_reader_segment(r, 0);
	CHECK(seg->nanchors == 1 && seg->anchors[0].monotonic == 1000000000 &&
		seg->anchors[0].realtime == 1700000001000000000);
	gt_reader_close(r);
}

static void much_metadata_is_left_out(void)
{
	struct gt_buf b = { 0 };
	struct gt_reader *r;

	gt_buf_str(&b, "{\"deviceProperties\":[],\"small\":1,\"big\":[0");
	for (unsigned i = 0; i < 100000; i++)
		gt_buf_printf(&b, ",%u", i);
	gt_buf_str(&b, "],\"deep\":");
	for (unsigned i = 0; i < 100; i++)
		gt_buf_str(&b, "[");
	for (unsigned i = 0; i < 100; i++)
		gt_buf_str(&b, "]");
	gt_buf_str(&b, ",\"after\":2,\"traceEvents\":[]}");
	r = open_bytes(b.data, b.len);
	gt_buf_release(&b);
	CHECK(r);
	CHECK(strstr(gt_reader_segment(r, 0)->meta_json,
		"\"kineto\":{\"deviceProperties\":[],\"small\":1,\"after\":2}"));
	CHECK(strstr(gt_reader_segment(r, 0)->meta_json, "\"metadata_left_out\":2"));
	gt_reader_close(r);
}

static void exact_times(void)
{
	CHECK(lists(HEAD X("cpu_op", "a", "1", "1", "4304876256187.416", "0.991", "") "," X(
			    "cpu_op", "b", "1", "2", "1600000000000000.1239", "1e1",
			    "") "," X("cpu_op", "c", "1", "3", "-5.001", "0.0009", "") "]}",
		"S 1/3 c -5001+0 d0 r0 category='cpu_op'\nS 1/1 a 4304876256187416+991 d0 r0 category='cpu_op'\n"
		"S 1/2 b 1600000000000000123+10000 d0 r0 category='cpu_op'\n"));
}

static void odd_events(void)
{
	CHECK(lists(
		HEAD KERNEL("zero", "5", "0", "0") "," KERNEL("ends before", "6", "9", "-2") "," X(
			"cpu_op", "no time", "1", "1", "\"x\"", "1", "") "," X("cpu_op", "absurd",
			"1", "1", "1e30", "1",
			"") ","
			    "{\"ph\":\"X\",\"name\":\"no ts\",\"dur\":1},{\"ph\":\"X\",\"name\":\"no dur\",\"ts\":1},{},7,[1],\"x\",{\"ph\":\"N\",\"ts\":1},"
			    "{\"ph\":\"b\",\"ts\":1},{\"ph\":\"b\",\"ts\":2},{\"ph\":\"word\",\"ts\":2},{\"ph\":\"X\",\"ts\":20,\"dur\":1},"
			    "{\"ph\":\"X\",\"ts\":21,\"dur\":1,\"name\":7,\"pid\":1.5,\"tid\":[{}],\"args\":[1,{}],\"cat\":null,\"new\":{\"args\":{}}}]}",
		"U 0/0 no dur 1000+0 d0 r0 category='?'\n"
		"L 0/0 ? 1000+21000 d0 r0\n"
		"G 0/7 stream 7 ends before 9000+0 d0 r0 " FIELDS(
			"6", "4294967295", "9000", "0", "?", "0") SHAPE
		"\n"
		"S 0/0 (no name) 20000+1000 d0 r0 category='?'\nS 0/0 (no name) 21000+1000 d0 r0 category='?'\n"));
	CHECK(meta_says("\"events_without_time\":4,\"negative_durations\":1,") &&
		meta_says("\"events_not_understood\":5"));
	CHECK(meta_says("\"phases_not_read\":{\"\":2,\"N\":1}"));
}

static const char sample[] = "{\"traceEvents\":[\n" RUNTIME("cudaLaunchKernel", "5", "2000",
	"1.5") ",\n" KERNEL("gemm", "5", "4000.001", "0.991") ",\n" X("cpu_op", "aten::mm", "10",
	"11", "1", "1", "\"Input Dims\":[[1]]") "\n],\"traceName\":\"x\"}";

/* The file is cut at every byte: the complete events are imported, and a note reports the cut. */
static void cut_at_every_byte(void)
{
	const size_t told = strlen("{\"traceEvents\"");
	size_t ends[3], n = 0;

	for (const char *p = sample; (p = strchr(p, '\n')) && n < 4; p++)
		if (n++)
			ends[n - 2] = (size_t)(p - sample) - (n < 4);
	for (n = 0; n < sizeof(sample); n++) {
		struct gt_reader *r = open_bytes(sample, n);
		const struct gt_segment *seg = r ? gt_reader_segment(r, 0) : NULL;

		CHECK(!r == (n < told));
		CHECK(!r ||
			!strstr(seg->meta_json, "\"truncated\":true") == (n == sizeof(sample) - 1));
		CHECK(!r ||
			(seg->rows[GT_CALL] == (n >= ends[0]) &&
				seg->rows[GT_GPU] == (n >= ends[1]) &&
				seg->rows[GT_SPAN] == (n >= ends[2])));
		gt_reader_close(r);
	}
}

static void what_is_no_json_names_its_place(void)
{
	static const struct {
		const char *text, *says;
		unsigned at;
	} bad[] = {
		{ HEAD "{\"ph\":\"X\" \"ts\":1}]}", "expected ','", 44 },
		{ "{\"traceEvents\":[{\"ph\":\"X\",}]}", "expected a key", 26 },
		{ "{\"traceEvents\":[]} {}", "unexpected text", 19 },
		{ "{\"traceEvents\":[{\"args\":{\"a\":01}}]}", "not a number", 30 },
		{ "{\"traceEvents\":[}", "no JSON value", 16 },
		{ "[{\"ph\":\"X\",\"ts\":1}}", "expected ','", 18 },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct gt_reader *r = open_bytes(bad[i].text, strlen(bad[i].text));

		if (r || err.offset != bad[i].at || !strstr(err.text, bad[i].says))
			fprintf(stderr, "%s: byte %d: %s\n", bad[i].text, (int)err.offset,
				err.text);
		CHECK(!r && err.code == -EBADMSG && strstr(err.text, bad[i].says) &&
			err.offset == bad[i].at);
	}
}

static void names_that_find_no_room_are_one(void)
{
	struct gt_buf b = { 0 };
	struct gt_reader *r;

	gt_buf_str(&b, HEAD);
	for (unsigned i = 0; i < 30000; i++)
		gt_buf_printf(&b,
			"%s{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"%01000u\",\"pid\":1,\"tid\":1,\"ts\":%u,\"dur\":1}",
			i ? "," : "", i, i);
	gt_buf_str(&b, "," KERNEL("has its name", "5", "4", "1") "]}");
	r = open_bytes(b.data, b.len);
	gt_buf_release(&b);
	CHECK(r && gt_reader_segment(r, 0)->rows[GT_SPAN] == 30000 &&
		!strstr(gt_reader_segment(r, 0)->meta_json, "\"names_left_out\":0"));
	CHECK(type_named(r, "has its name") && type_named(r, "(names beyond the limit)"));
	gt_reader_close(r);
}

static struct gt_reader *threads(unsigned n)
{
	struct gt_buf b = { 0 };
	struct gt_reader *r;

	gt_buf_str(&b, HEAD);
	for (unsigned i = 0; i < n; i++)
		gt_buf_printf(&b,
			"%s{\"ph\":\"X\",\"cat\":\"cuda_driver\",\"name\":\"cuInit\",\"pid\":%u,\"tid\":%u,\"ts\":%u,\"dur\":1}",
			i ? "," : "", i / 9, i, i);
	gt_buf_str(&b, "]}");
	r = open_bytes(b.data, b.len);
	gt_buf_release(&b);
	return r;
}

static void many_threads(void)
{
	struct gt_reader *r = threads(1u << 15);

	CHECK(r && gt_reader_segment(r, 0)->rows[GT_CALL] == 1u << 15);
	gt_reader_close(r);
	CHECK(!threads((1u << 15) + 1) && err.code == -E2BIG && err.offset != GT_NO_OFFSET &&
		strstr(err.text, "more than 32768 threads"));
}

static void other_arrays_are_not_taken(void)
{
	static const char *const texts[] = { "[{\"a\":1}]", "[1,{\"ph\":1,\"ts\":2}]",
		"{\"a\":{\"traceEvents\":[]}}", "[]", "{}", "[{\"ph\":\"X\"}]" };

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		CHECK(!open_bytes(texts[i], strlen(texts[i])) && err.code == -EILSEQ);
}

/* ---- a real file ---- */

static char *unpacked(const char *file, size_t *len)
{
	char full[4096];
	struct gt_buf b = { 0 };
	const char *src = getenv("SRC");
	gzFile f;
	int n = -1;

	snprintf(full, sizeof(full), "%s/%s", src ? src : ".", file);
	f = gzopen(full, "rb");
	while (f && (n = gzread(f, gt_buf_reserve(&b, 65536), 65536)) > 0)
		b.len += (size_t)n;
	if (f)
		gzclose(f);
	*len = b.len;
	return n == 0 ? (char *)b.data : NULL;
}

/* Microseconds of at most 3 decimals, as jansson's doubles hold them: exact after rounding,
 * for 4.3e12 us need 43 bits and 3 decimals 10 more. */
static int64_t ns_of(const json_t *event, const char *key)
{
	return llround(json_number_value(json_object_get(event, key)) * 1000);
}

struct sum {
	const char *name;
	uint64_t count, total, min, max, queued, queue, bytes;
};

static struct sum *sum_of(struct sum *sums, size_t *n, const char *name)
{
	for (size_t i = 0; i < *n; i++)
		if (!strcmp(sums[i].name, name))
			return &sums[i];
	if (*n == 64)
		abort();
	sums[*n] = (struct sum){ .name = name, .min = UINT64_MAX };
	return &sums[(*n)++];
}

static void add_to(struct sum *s, int64_t dur, int64_t start, int64_t call_end, uint64_t bytes)
{
	s->count++;
	s->total += (uint64_t)dur;
	s->min = (uint64_t)dur < s->min ? (uint64_t)dur : s->min;
	s->max = (uint64_t)dur > s->max ? (uint64_t)dur : s->max;
	s->queued += start >= call_end;
	s->queue += start >= call_end ? (uint64_t)(start - call_end) : 0;
	s->bytes += bytes;
}

static int64_t call_end_of(const json_t *events, json_int_t correlation)
{
	size_t i;
	json_t *e;

	json_array_foreach(events, i, e)
	{
		const char *cat = json_string_value(json_object_get(e, "cat"));

		if (cat && !strncmp(cat, "cuda_", 5) &&
			json_integer_value(json_object_get(
				json_object_get(e, "args"), "correlation")) == correlation)
			return ns_of(e, "ts") + ns_of(e, "dur");
	}
	return INT64_MAX;
}

/* By name, out of the JSON by another way altogether. */
static size_t sums_of_json(const json_t *events, struct sum sums[64])
{
	size_t i, n = 0;
	json_t *e;

	json_array_foreach(events, i, e)
	{
		const char *cat = json_string_value(json_object_get(e, "cat"));
		const json_t *args = json_object_get(e, "args");

		if (cat &&
			(!strcmp(cat, "kernel") || !strcmp(cat, "gpu_memcpy") ||
				!strcmp(cat, "gpu_memset")))
			add_to(sum_of(sums, &n, json_string_value(json_object_get(e, "name"))),
				ns_of(e, "dur"), ns_of(e, "ts"),
				call_end_of(events,
					json_integer_value(json_object_get(args, "correlation"))),
				(uint64_t)json_integer_value(json_object_get(args, "bytes")));
	}
	return n;
}

static uint64_t value_of(const struct gt_event *ev, unsigned role)
{
	const struct gt_type *t = &ev->seg->types[ev->row.type];

	for (unsigned i = 0; i < t->nfields; i++)
		if (t->fields[i].role == role)
			return ev->args[i];
	return 0;
}

static size_t sums_of_trace(struct gt_reader *r, struct sum sums[64])
{
	struct gt_iter *it =
		gt_iter_open(r, &(struct gt_filter){ .kinds = GT_BIT(GT_GPU), .args = true }, NULL);
	struct gt_event ev;
	size_t n = 0;

	while (gt_iter_next(it, &ev, NULL) > 0)
		add_to(sum_of(sums, &n, gt_type_name(ev.seg, ev.row.type)),
			ev.row.end - ev.row.start, ev.row.start,
			(int64_t)(value_of(&ev, GT_R_LAUNCH_START) + value_of(&ev, GT_R_LAUNCH_NS)),
			value_of(&ev, GT_R_BYTES));
	gt_iter_close(it);
	return n;
}

/* Ours have the names in small letters. */
static bool same_sums(const struct sum *a, size_t na, const struct sum *b, size_t nb)
{
	for (size_t i = 0; i < na; i++) {
		size_t k = 0;

		while (k < nb && strcasecmp(a[i].name, b[k].name))
			k++;
		if (k == nb ||
			memcmp(&a[i].count, &b[k].count,
				sizeof(*a) - offsetof(struct sum, count))) {
			fprintf(stderr, "%s: %d of %d ns\n", a[i].name, (int)a[i].count,
				(int)a[i].total);
			return false;
		}
	}
	return na == nb;
}

static void a_real_file(void)
{
	size_t len, na, nb;
	char *text = unpacked("samples/recorded/kineto-h200-mlp.json.gz", &len);
	json_t *root = text ? json_loadb(text, len, JSON_REJECT_DUPLICATES, NULL) : NULL;
	struct gt_reader *r = text ? open_bytes(text, len) : NULL;
	struct sum a[64], b[64];
	uint64_t count = 0, total = 0;

	free(text);
	CHECK(root && r);
	na = sums_of_json(json_object_get(root, "traceEvents"), a);
	nb = sums_of_trace(r, b);
	for (size_t i = 0; i < nb; i++) {
		count += b[i].count;
		total += b[i].total;
	}
	CHECK(count == 869 && total == 7672472); /* as it was counted when it was recorded */
	CHECK(same_sums(a, na, b, nb));
	gt_reader_close(r);
	json_decref(root);
	CHECK(meta_says(
		"\"gpu_kernels\":732,\"gpu_copies\":41,\"gpu_sets\":96,\"gpu_waits\":0,\"gpu_joined_exact\":869,"));
	CHECK(meta_says("\"calls_not_nested\":0,") && meta_says("\"events_without_time\":0,") &&
		meta_says("\"imported_events\":7985,"));
}

T_MAIN(T(the_beginning), T(metadata_on_both_sides), T(much_metadata_is_left_out), T(exact_times),
	T(odd_events), T(cut_at_every_byte), T(what_is_no_json_names_its_place),
	T(names_that_find_no_room_are_one), T(many_threads), T(other_arrays_are_not_taken),
	T(a_real_file), T(the_end))
