#include "formats/export/html/html_page.h"

#include "formats/io/deflate.h"

#define LEVEL 5          /* of compression */
#define LINE (45u << 10) /* bytes that become base64 at once: divisible by 3 */
#define OPEN "<script type=\"text/plain\" id=\"gt-"
#define CLOSE "</script>\n"

/* Made of formats/export/html/ by html.mk: the bytes before and behind the data. */
static const unsigned char before[] = {
#include "html_before.inc"
};
static const unsigned char behind[] = {
#include "html_behind.inc"
};

static const char *const names[GT_HTML_SECTIONS] = { "head", "start", "dur", "type", "level",
	"extra", "value", "args", "reports", "flame" };

int gt_html_page_add(
	struct gt_html_page *p, enum gt_html_section section, const void *bytes, size_t len)
{
	return gt_deflate(&p->sections[section], bytes, len, LEVEL);
}

size_t gt_html_page_size(const struct gt_html_page *p)
{
	size_t size = sizeof(before) + sizeof(behind);

	for (unsigned i = 0; i < GT_HTML_SECTIONS; i++)
		if (p->sections[i].len)
			size += (p->sections[i].len + 2) / 3 * 4 + sizeof(OPEN CLOSE) +
				strlen(names[i]) + 1;
	return size;
}

static void put_base64(struct gt_out *out, const uint8_t *s, size_t n)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	char *p = gt_out_reserve(out, (n + 2) / 3 * 4);

	for (; n >= 3; n -= 3, s += 3) {
		uint32_t v = (uint32_t)s[0] << 16 | (uint32_t)s[1] << 8 | s[2];

		*p++ = digits[v >> 18];
		*p++ = digits[v >> 12 & 63];
		*p++ = digits[v >> 6 & 63];
		*p++ = digits[v & 63];
	}
	if (n) {
		uint32_t v = (uint32_t)s[0] << 16 | (n > 1 ? (uint32_t)s[1] << 8 : 0);

		*p++ = digits[v >> 18];
		*p++ = digits[v >> 12 & 63];
		*p++ = n > 1 ? digits[v >> 6 & 63] : '=';
		*p++ = '=';
	}
	gt_out_commit(out, p);
}

void gt_html_page_write(const struct gt_html_page *p, struct gt_out *out)
{
	gt_out_add(out, before, sizeof(before));
	for (unsigned i = 0; i < GT_HTML_SECTIONS; i++) {
		const struct gt_buf *b = &p->sections[i];

		if (!b->len)
			continue;
		gt_out_str(out, OPEN);
		gt_out_str(out, names[i]);
		gt_out_str(out, "\">");
		for (size_t at = 0; at < b->len && !out->failed; at += LINE)
			put_base64(out, b->data + at, b->len - at < LINE ? b->len - at : LINE);
		gt_out_str(out, CLOSE);
	}
	gt_out_add(out, behind, sizeof(behind));
}

void gt_html_page_release(struct gt_html_page *p)
{
	for (unsigned i = 0; i < GT_HTML_SECTIONS; i++)
		gt_buf_release(&p->sections[i]);
}
