/* A flame graph as one SVG file: one graph for the CPU and one for the GPU, each as wide as the
 * image, because their times must not be added (stack_tree.h). The root is at the bottom; in an
 * icicle graph it is at the top. A frame is as wide as its share of the graph. Frames are sorted by
 * name, so that two images can be compared. The image has the rows that its frames need.
 *
 * A frame has a tooltip (<title>): its name, cost and share. A script in the file searches (Ctrl-F
 * or the word "search": a regular expression; the matching frames change their colour, and their
 * share is shown) and zooms (click; a click on a root zooms out). Without scripts it is a still
 * image.
 *
 * With --baseline a frame is as wide as in the trace, and its colour says how its cost, with that
 * of its children, changed since the baseline: frames that are there no more make those around them
 * blue. */
#include "formats/export/stacks/stack_tree.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "formats/base/merge_sort.h"

#define WIDTH 1180 /* of a graph, in the image's units */
#define ROW 17u
#define MARGIN 10u
#define HEAD 34u   /* the line with the search, above the first graph */
#define LEAST 0.3  /* narrower frames are left out */
#define LETTER 6.7 /* width of a letter, about */
#define LETTERS_MAX 180u
#define TITLE_LETTER 8.5 /* likewise, of the title */

struct frame {
	double x, total; /* x: cost to its left in its graph */
	double before;   /* total of the baseline */
	uint32_t depth, root;
};
struct flame {
	const struct gt_stack_tree *tree;
	struct gt_out *out;
	bool icicle;
	struct frame *frames; /* by node */
	uint32_t *order;      /* nodes by parent and name */
};

/* ---- layout ---- */

static bool comes_before(const void *arg, uint32_t a, uint32_t b)
{
	const struct gt_stack_tree *t = arg;
	const struct gt_stack_node *x = &t->nodes[a], *y = &t->nodes[b];

	if (x->parent != y->parent)
		return x->parent < y->parent;
	return strcmp(gt_stack_tree_label(t, x->label), gt_stack_tree_label(t, y->label)) < 0;
}

/* Parents come before their children: sums up from the end, places from the beginning. */
static void lay_out(struct flame *f)
{
	const struct gt_stack_tree *t = f->tree;
	double next = 0;

	for (uint32_t i = (uint32_t)t->nnodes; i-- > 0;) {
		uint32_t parent = t->nodes[i].parent;

		f->frames[i].total += t->nodes[i].cost > 0 ? (double)t->nodes[i].cost : 0;
		f->frames[i].before += t->before && t->before[i] > 0 ? (double)t->before[i] : 0;
		if (parent != GT_NONE) {
			f->frames[parent].total += f->frames[i].total;
			f->frames[parent].before += f->frames[i].before;
		} else {
			f->frames[i].root = i;
		}
	}
	for (uint32_t k = 0; k < t->nnodes; k++) {
		uint32_t i = f->order[k], parent = t->nodes[i].parent;
		struct frame *to = &f->frames[i];

		if (parent == GT_NONE)
			break; /* these come last, and are placed */
		if (!k || t->nodes[f->order[k - 1]].parent != parent)
			next = f->frames[parent].x;
		to->x = next;
		to->depth = f->frames[parent].depth + 1;
		to->root = f->frames[parent].root;
		next += to->total;
	}
}

static double width_of(const struct flame *f, uint32_t node)
{
	const struct frame *at = &f->frames[node];
	double all = f->frames[at->root].total;

	return all > 0 ? at->total / all * WIDTH : 0;
}

/* ---- text ---- */

static void put_xml(struct gt_out *out, const char *s, size_t most)
{
	size_t letters = 0;

	for (; *s; s++) {
		/* not within a letter */
		if (((unsigned char)*s & 0xc0) != 0x80 && letters++ == most)
			break;
		switch (*s) {
		case '<': gt_out_str(out, "&lt;"); break;
		case '>': gt_out_str(out, "&gt;"); break;
		case '&': gt_out_str(out, "&amp;"); break;
		default: gt_out_add(out, s, 1);
		}
	}
	if (*s)
		gt_out_str(out, "..");
}

/* CPU: red to yellow. GPU: green to blue. By name, so that equal frames have equal colours. */
static uint32_t colour_of(const char *name, bool gpu)
{
	uint64_t h = gt_hash(name, strlen(name));
	uint32_t a = (uint32_t)(h & 63), b = (uint32_t)(h >> 8 & 127), c = (uint32_t)(h >> 16 & 31);

	return gpu ? (90 + c) << 16 | (150 + a) << 8 | (120 + b)
		   : (205 + a / 2) << 16 | (90 + b) << 8 | (60 + c);
}

/* Red: more than before; blue: less; grey: equal. Full colour from twice or half of it on, on which
 * the black text is still readable: a contrast of 4.5 to 1. */
static uint32_t change_colour(const struct frame *at)
{
	const double more = at->total - at->before,
		     most = at->total > at->before ? at->total : at->before;
	const double share = most > 0 ? 2 * (more < 0 ? -more : more) / most : 0;
	const double shade = share < 1 ? share : 1;
	const uint32_t own = (uint32_t)(230 + 25 * shade), other = (uint32_t)(230 - 130 * shade);

	return more < 0 ? other << 16 | other << 8 | own : own << 16 | other << 8 | other;
}

/* A line of a tooltip: "before 1.234 ms: +12.3 %". */
static void put_change(const struct flame *f, const struct frame *at)
{
	gt_out_str(f->out, "\nbefore ");
	gt_export_cost(f->out, f->tree->cost, at->before);
	if (at->before > 0)
		gt_out_printf(f->out, ": %+.1f %%", (at->total - at->before) / at->before * 100);
}

/* ---- the image ---- */

static void put_frame(struct flame *f, uint32_t node, unsigned top, unsigned rows)
{
	const struct gt_stack_tree *t = f->tree;
	const struct frame *at = &f->frames[node], *root = &f->frames[at->root];
	const char *name = gt_stack_tree_label(t, t->nodes[node].label),
		   *graph = gt_stack_tree_label(t, t->nodes[at->root].label);
	double x = at->x / root->total * WIDTH, width = width_of(f, node);
	unsigned y = top + (f->icicle ? at->depth : rows - 1 - at->depth) * ROW;
	double letters = (width - 6) / LETTER;

	gt_out_str(f->out, "<g><title>");
	put_xml(f->out, name, SIZE_MAX);
	gt_out_str(f->out, "\n");
	gt_export_cost(f->out, t->cost, at->total);
	gt_out_printf(f->out, ", %.2f %% of %s; itself ", at->total / root->total * 100, graph);
	gt_export_cost(f->out, t->cost, t->nodes[node].cost > 0 ? (double)t->nodes[node].cost : 0);
	if (t->before)
		put_change(f, at);
	gt_out_printf(f->out,
		"</title><rect x=\"%.2f\" y=\"%u\" width=\"%.2f\" height=\"%u\" fill=\"#%06x\"/>",
		MARGIN + x, y, width > 0.4 ? width - 0.2 : width, ROW - 1,
		t->before ? change_colour(at) : colour_of(name, !strcmp(graph, "GPU")));
	gt_out_printf(f->out, "<text x=\"%.2f\" y=\"%u\">", MARGIN + x + 3, y + 12);
	if (letters >= 3)
		put_xml(f->out, name, letters > LETTERS_MAX ? LETTERS_MAX : (size_t)letters - 2);
	gt_out_str(f->out, "</text></g>\n");
}

/* Rows that the drawn frames of a root need. */
static unsigned rows_of(const struct flame *f, uint32_t root)
{
	unsigned deepest = 0;

	for (uint32_t i = 0; i < f->tree->nnodes; i++)
		if (f->frames[i].root == root && f->frames[i].depth > deepest &&
			width_of(f, i) >= LEAST)
			deepest = f->frames[i].depth;
	return deepest + 1;
}

/* Zoom and search. The texts of frames come from their titles. Frames of a graph are in one group.
 */
static const char script[] = "<script><![CDATA[\n"
			     "(function () {\n"
			     "var svg = document.documentElement, W = " /* the width follows */;
static const char script_rest[] =
	", M = 10, found = document.getElementById('found');\n"
	"function all(e, what) { return Array.prototype.slice.call(e.getElementsByTagName(what)); }\n"
	"function name(g) { return all(g, 'title')[0].textContent.split('\\n')[0]; }\n"
	"var graphs = all(svg, 'g').filter(function (g) { return g.getAttribute('class') == 'graph'; })\n"
	"	.map(function (graph) {\n"
	"		return all(graph, 'g').map(function (g) {\n"
	"			var r = all(g, 'rect')[0], x = +r.getAttribute('x') - M, w = +r.getAttribute('width');\n"
	"			return { g: g, r: r, t: all(g, 'text')[0], x: x, w: w, y: +r.getAttribute('y'),\n"
	"				fill: r.getAttribute('fill'), name: name(g) };\n"
	"		});\n"
	"	});\n"
	"function zoom(graph, to) {\n"
	"	var k = W / to.w;\n"
	"	graph.forEach(function (f) {\n"
	"		var around = (up ? f.y > to.y : f.y < to.y) && f.x <= to.x + 0.3 && f.x + f.w >= to.x + to.w - 0.3;\n"
	"		var x = around ? 0 : (f.x - to.x) * k, w = around ? W : f.w * k;\n"
	"		var n = Math.floor((w - 6) / 6.7);\n"
	"		f.g.style.display = x < -0.5 || x + w > W + 0.5 ? 'none' : '';\n"
	"		f.r.setAttribute('x', M + x);\n"
	"		f.r.setAttribute('width', w);\n"
	"		f.t.setAttribute('x', M + x + 3);\n"
	"		f.t.textContent = n < 3 ? '' : f.name.length <= n ? f.name : f.name.slice(0, n - 2) + '..';\n"
	"	});\n"
	"}\n"
	"function search() {\n"
	"	var text = window.prompt('regular expression; empty: none', ''), e, said = [];\n"
	"	if (text === null) return;\n"
	"	try { e = text && new RegExp(text); } catch (error) { found.textContent = String(error); return; }\n"
	"	graphs.forEach(function (graph) {\n"
	"		var sum = 0, end = 0;\n"
	"		graph.filter(function (f) {\n"
	"			var is = e && e.test(f.name);\n"
	"			f.r.setAttribute('fill', is ? '#e600e6' : f.fill);\n"
	"			return is;\n"
	"		}).sort(function (a, b) { return a.x - b.x; }).forEach(function (f) {\n"
	"			sum += Math.max(0, f.x + f.w - Math.max(f.x, end));\n"
	"			end = Math.max(end, f.x + f.w);\n"
	"		});\n"
	"		if (graph.length) said.push((sum / W * 100).toFixed(1) + ' % of ' + graph[0].name);\n"
	"	});\n"
	"	found.textContent = e ? said.join(', ') : '';\n"
	"}\n"
	"graphs.forEach(function (graph) {\n"
	"	graph.forEach(function (f) { f.g.onclick = function () { zoom(graph, f); }; });\n"
	"});\n"
	"document.getElementById('search').onclick = search;\n"
	"window.addEventListener('keydown', function (k) {\n"
	"	if (k.key == 'f' && (k.ctrlKey || k.metaKey)) { k.preventDefault(); search(); }\n"
	"});\n"
	"})();\n"
	"]]></script>\n";

static void put_graph(struct flame *f, uint32_t root, unsigned top)
{
	const unsigned rows = rows_of(f, root);

	gt_out_str(f->out, "<g class=\"graph\">\n");
	for (uint32_t i = 0; i < f->tree->nnodes; i++)
		if (f->frames[i].root == root && width_of(f, i) >= LEAST)
			put_frame(f, i, top, rows);
	gt_out_str(f->out, "</g>\n");
}

/* The title, the word "search" and its result to the right of it, and the note. */
static void put_heading(const struct flame *f)
{
	const struct gt_stack_tree *t = f->tree;
	const char *title = t->title ? t->title : f->icicle ? "Icicle graph" : "Flame graph";
	unsigned search =
		t->title ? (unsigned)(strlen(title) * TITLE_LETTER) + 3 * MARGIN : MARGIN + 120;

	put_xml(f->out, title, SIZE_MAX);
	gt_out_printf(f->out,
		"</text><text id=\"search\" x=\"%u\" y=\"20\" text-decoration=\"underline\">search</text>"
		"<text id=\"found\" x=\"%u\" y=\"20\"></text>\n",
		search, search + 60);
	if (!t->note)
		return;
	gt_out_printf(f->out, "<text x=\"%u\" y=\"%u\">", MARGIN, HEAD);
	put_xml(f->out, t->note, SIZE_MAX);
	gt_out_str(f->out, "</text>\n");
}

static void put_image(struct flame *f)
{
	static const char *const nothing[] = { [GT_COST_TIME] =
						       "no time in calls, ranges or GPU work",
		[GT_COST_COUNT] = "no calls, ranges or GPU work",
		[GT_COST_BYTES] = "no bytes copied, set or allocated" };
	const struct gt_stack_tree *t = f->tree;
	const unsigned head = HEAD + (t->note ? ROW : 0);
	unsigned height = head, top = head;

	for (uint32_t i = 0; i < t->nnodes; i++)
		if (t->nodes[i].parent == GT_NONE && f->frames[i].total > 0)
			height += rows_of(f, i) * ROW + MARGIN;
	if (height == head)
		height += ROW + MARGIN; /* of a sentence */
	gt_out_printf(f->out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" "
		"viewBox=\"0 0 %u %u\" font-family=\"monospace\" font-size=\"11\">\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"#f8f8f4\"/>\n"
		"<style>text { pointer-events: none } #search, g.graph g { cursor: pointer; "
		"pointer-events: all } g.graph g:hover rect { stroke: #000 }</style>\n"
		"<text x=\"%u\" y=\"20\" font-size=\"14\">",
		WIDTH + 2 * MARGIN, height, WIDTH + 2 * MARGIN, height, MARGIN);
	put_heading(f);
	for (uint32_t i = 0; i < t->nnodes; i++) {
		if (t->nodes[i].parent != GT_NONE || f->frames[i].total <= 0)
			continue;
		put_graph(f, i, top);
		top += rows_of(f, i) * ROW + MARGIN;
	}
	if (top == head)
		gt_out_printf(f->out, "<text x=\"%u\" y=\"%u\">%s</text>\n", MARGIN, head + 12,
			nothing[t->cost]);
	gt_out_str(f->out, script);
	gt_out_printf(f->out, "%u, up = %s", WIDTH, f->icicle ? "false" : "true");
	gt_out_str(f->out, script_rest);
	gt_out_str(f->out, "</svg>\n");
}

static int draw(const struct gt_stack_tree *t, bool icicle, struct gt_out *out, struct gt_err *err)
{
	struct flame f = { .tree = t,
		.out = out,
		.icicle = icicle,
		.frames = calloc(t->nnodes + 1, sizeof(*f.frames)),
		.order = malloc(2 * (t->nnodes + 1) * sizeof(*f.order)) };
	int rc = f.frames && f.order ? 0 : gt_err_set(err, -ENOMEM, "out of memory");

	for (uint32_t i = 0; !rc && i < t->nnodes; i++)
		f.order[i] = i;
	if (!rc) {
		gt_merge_sort(f.order, f.order + t->nnodes, (uint32_t)t->nnodes, comes_before, t);
		lay_out(&f);
		put_image(&f);
	}
	free(f.frames);
	free(f.order);
	return rc;
}

static int export_graph(struct gt_reader *r, const struct gt_export_options *opt, bool icicle,
	struct gt_out *out, struct gt_err *err)
{
	struct gt_stack_tree tree;
	int rc;

	if (opt->tree)
		return draw(opt->tree, icicle, out, err);
	rc = gt_stack_tree_build(&tree, r, opt, err);
	rc = rc ? rc : draw(&tree, icicle, out, err);
	gt_stack_tree_release(&tree);
	return rc;
}

static int flame_export(struct gt_reader *r, const struct gt_export_options *opt,
	struct gt_out *out, struct gt_err *err)
{
	return export_graph(r, opt, false, out, err);
}

static int icicle_export(struct gt_reader *r, const struct gt_export_options *opt,
	struct gt_out *out, struct gt_err *err)
{
	return export_graph(r, opt, true, out, err);
}

const struct gt_exporter gt_export_flame = {
	.name = "flame",
	.suffix = "svg",
	.help = "a flame graph as SVG, with tooltips, search and zoom, for a browser",
	.takes = GT_TAKES_STACKS | GT_TAKES_COST | GT_TAKES_BASELINE,
	.sums = true,
	.export = flame_export,
};
const struct gt_exporter gt_export_icicle = {
	.name = "icicle",
	.suffix = "svg",
	.help = "the same with the root at the top",
	.takes = GT_TAKES_STACKS | GT_TAKES_COST | GT_TAKES_BASELINE,
	.sums = true,
	.export = icicle_export,
};
