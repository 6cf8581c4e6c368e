#include "tests/unit/t.h"

#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>
#include <zlib.h>
#include "formats/io/stream_out.h"

static bool json_is(const char *in, size_t len, const char *want)
{
	struct gt_out o;
	bool ok;

	gt_out_memory(&o);
	gt_out_json(&o, in, len);
	ok = o.len == strlen(want) && !memcmp(o.data, want, o.len);
	gt_out_close(&o, NULL);
	return ok;
}

static void json_strings(void)
{
	CHECK(json_is("a\"b\\c", 5, "\"a\\\"b\\\\c\""));
	CHECK(json_is("\n\t\x01\x7f", 4, "\"\\n\\t\\u0001\\u007f\""));
	CHECK(json_is("a\0b", 3, "\"a\\u0000b\""));
	CHECK(json_is("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 9,
		"\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\""));
	CHECK(json_is("\xff", 1, "\"\xef\xbf\xbd\""));
	CHECK(json_is("\xc3", 1, "\"\xef\xbf\xbd\""));                 /* cut short */
	CHECK(json_is("\xc0\x80", 2, "\"\xef\xbf\xbd\xef\xbf\xbd\"")); /* overlong */
	/* a surrogate */
	CHECK(json_is("\xed\xa0\x80", 3, "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""));
	CHECK(json_is(
		"\xf4\x90\x80\x80", 4, "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""));
}

/* Eight characters without escapes are copied at once. The place of a byte does not matter. */
static void json_every_byte_at_every_place(void)
{
	enum { LENGTH = 17 };

	for (unsigned c = 0; c < 256; c++) {
		char one = (char)c, alone[16], in[LENGTH + 1], want[64];
		struct gt_out o;
		int n;

		gt_out_memory(&o);
		gt_out_json(&o, &one, 1);
		n = snprintf(alone, sizeof(alone), "%.*s", (int)o.len - 2, o.data + 1);
		CHECK(n > 0);
		gt_out_close(&o, NULL);
		for (int at = 0; at < LENGTH; at++) {
			memset(in, '~', LENGTH);
			in[at] = one;
			snprintf(want, sizeof(want), "\"%.*s%s%.*s\"", at, "~~~~~~~~~~~~~~~~~",
				alone, LENGTH - 1 - at, "~~~~~~~~~~~~~~~~~");
			CHECK(json_is(in, LENGTH, want));
		}
	}
}

/* Any bytes become a string that a strict parser accepts. */
static void json_any_bytes(void)
{
	size_t n = 300000;
	char *bytes = malloc(n);
	unsigned seed = 1;
	struct gt_out o;
	json_t *j;

	for (size_t i = 0; i < n; i++)
		bytes[i] = (char)((seed = seed * 1103515245 + 12345) >> 16);
	gt_out_memory(&o);
	gt_out_json(&o, bytes, n);
	free(bytes);
	j = json_loadb(o.data, o.len, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
	CHECK(j);
	CHECK(json_string_length(j) >= n);
	json_decref(j);
	CHECK(!gt_out_close(&o, NULL));
}

static void long_printf(void)
{
	char *text = malloc(200001);
	struct gt_out o;

	memset(text, 'x', 200000);
	text[200000] = '\0';
	gt_out_memory(&o);
	gt_out_printf(&o, "<%s>", text);
	CHECK(o.len == 200002 && o.data[0] == '<' && o.data[200001] == '>');
	gt_out_close(&o, NULL);
	free(text);
}

static void file_is_not_replaced(void)
{
	char path[] = "/tmp/gt-out-XXXXXX";
	int fd = mkstemp(path);
	struct gt_err err = GT_ERR_INIT;
	struct gt_out o;

	CHECK(fd >= 0);
	close(fd);
	CHECK_EQ(gt_out_open(&o, path, false, &err), -EEXIST);
	CHECK(strstr(err.text, path) && strstr(err.text, "-f"));
	CHECK(!gt_out_open(&o, path, true, NULL));
	gt_out_str(&o, "hello");
	CHECK(!gt_out_close(&o, NULL));
	fd = open(path, O_RDONLY);
	CHECK_EQ(lseek(fd, 0, SEEK_END), 5);
	close(fd);
	unlink(path);
}

static void no_such_folder(void)
{
	struct gt_err err = GT_ERR_INIT;
	struct gt_out o;

	CHECK_EQ(gt_out_open(&o, "/nonexistent/x", false, &err), -ENOENT);
	CHECK(strstr(err.text, "/nonexistent/x"));
	gt_out_str(&o, "goes nowhere");
	CHECK(gt_out_close(&o, NULL));
}

static void device_needs_no_force(void)
{
	struct gt_out o;

	CHECK(!gt_out_open(&o, "/dev/null", false, NULL));
	for (int i = 0; i < 100000; i++)
		gt_out_str(&o, "0123456789");
	CHECK(!gt_out_close(&o, NULL));
}

static void full_disk(void)
{
	struct gt_err err = GT_ERR_INIT;
	struct gt_out o;

	if (access("/dev/full", W_OK))
		SKIP("no /dev/full");
	CHECK(!gt_out_open(&o, "/dev/full", false, NULL));
	gt_out_str(&o, "x");
	CHECK(!o.failed);
	CHECK_EQ(gt_out_close(&o, &err), -ENOSPC);
	CHECK(strstr(err.text, "/dev/full"));
}

static void closed_pipe(void)
{
	struct gt_err err = GT_ERR_INIT;
	struct gt_out o;
	char path[64];
	int p[2];

	/* the caller may have set this; otherwise the signal would end the test silently */
	signal(SIGPIPE, SIG_IGN);
	CHECK(!pipe(p));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", p[1]);
	CHECK(!gt_out_open(&o, path, false, NULL));
	close(p[0]);
	close(p[1]);
	for (int i = 0; i < 100000; i++)
		gt_out_str(&o, "0123456789");
	CHECK_EQ(o.failed, -EPIPE);
	CHECK_EQ(gt_out_close(&o, &err), -EPIPE);
	CHECK(strstr(err.text, "cannot write /proc/self/fd/") && strstr(err.text, "Broken pipe"));
	signal(SIGPIPE, SIG_DFL);
}

static void gz_by_name(void)
{
	char path[] = "/tmp/gt-out-XXXXXX.gz", got[32] = { 0 };
	int fd = mkstemps(path, 3);
	struct gt_out o;
	gzFile gz;

	close(fd);
	CHECK(!gt_out_open(&o, path, true, NULL));
	CHECK_EQ(gt_out_fd(&o), -EINVAL);
	gt_out_str(&o, "packed");
	CHECK(!gt_out_close(&o, NULL));
	fd = open(path, O_RDONLY);
	CHECK(read(fd, got, 2) == 2 && !memcmp(got, "\x1f\x8b", 2));
	close(fd);
	gz = gzopen(path, "rb");
	CHECK(gzread(gz, got, sizeof(got)) == 6 && !memcmp(got, "packed", 6));
	gzclose(gz);
	unlink(path);
}

static const size_t pieces[] = { 3, 300000, 1, 65535, 65536, 0, 2, 700001, 65537, 5 };
#define PIECES (sizeof(pieces) / sizeof(*pieces))

/* Pieces of any size; how many bytes these were. */
static size_t add_pieces(struct gt_out *o, const char *bytes)
{
	size_t at = 0;

	for (size_t i = 0; i < PIECES; at += pieces[i++])
		gt_out_add(o, bytes + at, pieces[i]);
	return at;
}

static void large_pieces_keep_their_place(void)
{
	static char bytes[2 << 20], got[2 << 20];
	static const char *const ends[] = { "", ".gz" };
	struct gt_out o;

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (char)(i * 2654435761u >> 24);
	for (int k = 0; k < 2; k++) {
		char path[64];
		size_t n;
		gzFile file;

		snprintf(path, sizeof(path), "/tmp/gt-out-%d%s", (int)getpid(), ends[k]);
		CHECK(!gt_out_open(&o, path, true, NULL));
		n = add_pieces(&o, bytes);
		CHECK(!gt_out_close(&o, NULL));
		file = gzopen(path, "rb"); /* reads plain ones, too */
		CHECK(file && gzread(file, got, sizeof(got)) == (int)n && !memcmp(got, bytes, n));
		gzclose(file);
		unlink(path);
	}
	gt_out_memory(&o);
	CHECK(add_pieces(&o, bytes) == o.len && !memcmp(o.data, bytes, o.len));
	CHECK(!gt_out_close(&o, NULL));
}

T_MAIN(T(json_strings), T(json_every_byte_at_every_place), T(json_any_bytes), T(long_printf),
	T(file_is_not_replaced), T(no_such_folder), T(device_needs_no_force), T(full_disk),
	T(closed_pipe), T(gz_by_name), T(large_pieces_keep_their_place))
