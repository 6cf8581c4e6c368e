/* Folded stacks, one line each, for flamegraph.pl, inferno and speedscope:
 *
 *   CPU;python3 (4711);worker (4712);cuLaunchKernel;vectorAdd 1200
 *   GPU;python3 (4711);GPU 0 (0);stream 7;vectorAdd 5600
 *
 * The number is the cost of the stack without its children (which have their own lines). A flame
 * graph adds the children up again. With --baseline there are two numbers, as difffolded.pl prints
 * them and flamegraph.pl reads them: that of the baseline, then that of the trace.
 *
 * Lines are sorted like LC_ALL=C sort. A walk of the tree has another order, since ';' sorts behind
 * digits. So all lines are collected first, within a limit.
 */
#include "formats/export/stacks/stack_tree.h"

#include <stdlib.h>
#include "formats/base/sorted.h"

/* bytes of lines: a flame graph cannot show more stacks */
#define TEXT_MAX (96u << 20)

/* This format has no escapes: ';' separates frames. */
static void add_frame(struct gt_buf *b, const char *label)
{
	size_t at = b->len;

	gt_buf_str(b, label);
	for (; at < b->len; at++)
		if (b->data[at] == ';')
			b->data[at] = ':';
}

static void add_path(const struct gt_stack_tree *f, struct gt_buf *b, uint32_t node)
{
	/* root, host, process, device, track, and a call and a kernel for each of 256 depths; or
	 * the 4096 frames of a call stack */
	uint32_t path[4200];
	unsigned n = 0;

	for (; node != GT_NONE && n < 4200; node = f->nodes[node].parent)
		path[n++] = f->nodes[node].label;
	while (n--) {
		add_frame(b, gt_stack_tree_label(f, path[n]));
		gt_buf_byte(b, n ? ';' : ' ');
	}
}

static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int print_sorted(struct gt_out *out, struct gt_buf *text, size_t nlines)
{
	char **lines = malloc((nlines + 1) * sizeof(*lines)), *p = (char *)text->data;

	if (!lines)
		return -ENOMEM;
	for (size_t i = 0; i < nlines; i++, p += strlen(p) + 1)
		lines[i] = p;
	GT_SORT(lines, nlines, compare_lines);
	for (size_t i = 0; i < nlines; i++) {
		gt_out_str(out, lines[i]);
		gt_out_str(out, "\n");
	}
	free(lines);
	return 0;
}

static int print_lines(const struct gt_stack_tree *f, struct gt_out *out, struct gt_err *err)
{
	struct gt_buf text = { 0 };
	size_t nlines = 0;
	int rc = 0;

	for (uint32_t i = 0; i < f->nnodes && !rc; i++) {
		const int64_t cost = f->nodes[i].cost > 0 ? f->nodes[i].cost : 0,
			      before = f->before && f->before[i] > 0 ? f->before[i] : 0;
		char numbers[64], *p = numbers;

		if (!cost && !before)
			continue;
		add_path(f, &text, i);
		if (f->before) {
			p = gt_put_i64(p, before);
			*p++ = ' ';
		}
		p = gt_put_i64(p, cost);
		*p = '\0';
		gt_buf_add(&text, numbers, (size_t)(p + 1 - numbers));
		nlines++;
		if (text.len > TEXT_MAX)
			rc = gt_err_set(err, -E2BIG, "the folded stacks need more than %u MiB",
				TEXT_MAX >> 20);
	}
	if (!rc && (text.failed || print_sorted(out, &text, nlines)))
		rc = gt_err_set(err, -ENOMEM, "out of memory");
	gt_buf_release(&text);
	return rc;
}

static int folded_export(struct gt_reader *r, const struct gt_export_options *opt,
	struct gt_out *out, struct gt_err *err)
{
	struct gt_stack_tree f;
	int rc, printed;

	if (opt->tree)
		return print_lines(opt->tree, out, err);
	rc = gt_stack_tree_build(&f, r, opt, err);
	printed = print_lines(&f, out, err);
	gt_stack_tree_release(&f);
	return rc ? rc : printed;
}

const struct gt_exporter gt_export_folded = {
	.name = "folded",
	.suffix = "folded",
	.help = "folded stacks, for flamegraph.pl, inferno and speedscope",
	.takes = GT_TAKES_STACKS | GT_TAKES_COST | GT_TAKES_BASELINE,
	.sums = true,
	.export = folded_export,
};
