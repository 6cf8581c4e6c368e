/* Fields and messages of protocol buffers, against bytes that the format's documentation defines.
 */
#include <stdbool.h>
#include "formats/io/proto_write.h"
#include "tests/unit/t.h"

static bool is_bytes(const char *got, const char *end, const char *wanted, size_t n)
{
	return (size_t)(end - got) == n && !memcmp(got, wanted, n);
}

static void varints(void)
{
	char b[32];

	CHECK(is_bytes(b, gt_proto_varint(b, 0), "\0", 1));
	CHECK(is_bytes(b, gt_proto_varint(b, 127), "\x7f", 1));
	CHECK(is_bytes(b, gt_proto_varint(b, 150), "\x96\x01", 2));
	CHECK(is_bytes(
		b, gt_proto_varint(b, UINT64_MAX), "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10));
}

static void fields(void)
{
	char b[64];

	CHECK(is_bytes(b, gt_proto_u64(b, 1, 150), "\x08\x96\x01", 3));
	CHECK(is_bytes(b, gt_proto_bytes(b, 2, "testing", 7), "\x12\x07testing", 9));
	CHECK(is_bytes(b, gt_proto_fixed64(b, 47, 258), "\xf9\x02\x02\x01\0\0\0\0\0\0", 10));
}

/* A message whose length needs more than one byte moves. */
static void messages_of_any_length(void)
{
	static const size_t sizes[] = { 0, 1, 127, 128, 300, 16383, 16384, 60000 };
	static char text[60000], b[60100];

	memset(text, 'x', sizeof(text));
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		char *p = b, *mark = gt_proto_open(&p, 3), wanted[16], *w = wanted;

		memcpy(p, text, sizes[i]);
		p = gt_proto_close(mark, p + sizes[i]);
		w = gt_proto_varint(gt_proto_tag(w, 3, GT_PROTO_BYTES), sizes[i]);
		CHECK_EQ((uint64_t)(p - b), (uint64_t)(w - wanted) + sizes[i]);
		CHECK(!memcmp(b, wanted, (size_t)(w - wanted)));
		CHECK(!memcmp(b + (w - wanted), text, sizes[i]));
	}
}

T_MAIN(T(varints), T(fields), T(messages_of_any_length))
