/* One HTML file that needs nothing else: styles and scripts of formats/export/html/, and sections
 * of data. A section is deflated and in base64, so that no name in it can be read as HTML. The
 * file's content security policy permits its own script and style by their hashes, and nothing
 * else: it loads nothing and connects to nothing. */
#ifndef GT_HTML_PAGE_H
#define GT_HTML_PAGE_H
#include "formats/base/buf.h"
#include "formats/io/stream_out.h"

/* What a page shows: the sections that it has. */
enum gt_html_section {
	GT_HTML_HEAD,  /* JSON: names, types, tracks, lanes (html_head.c) */
	GT_HTML_START, /* columns (html_lanes.h) */
	GT_HTML_DUR,
	GT_HTML_TYPE,
	GT_HTML_LEVEL,
	GT_HTML_EXTRA,
	GT_HTML_VALUE,
	GT_HTML_ARGS,
	GT_HTML_REPORTS, /* JSON: tables (analyze/cli/page_tables.h) */
	GT_HTML_FLAME,   /* JSON: a tree of stacks */
	GT_HTML_SECTIONS
};
struct gt_html_page {
	struct gt_buf sections[GT_HTML_SECTIONS]; /* deflated; empty: the page has none */
};
/* 0 or -ENOMEM. The page must not have the section yet. */
int gt_html_page_add(
	struct gt_html_page *p, enum gt_html_section section, const void *bytes, size_t len);
size_t gt_html_page_size(const struct gt_html_page *p); /* bytes that gt_html_page_write writes */
void gt_html_page_write(const struct gt_html_page *p, struct gt_out *out);
void gt_html_page_release(struct gt_html_page *p);
#endif
