#include "formats/table/table_layout.h"

#include <stdlib.h>
#include "formats/table/table_grid_internal.h"

struct gt_table_layout {
	struct gt_table_grid g;
	struct gt_layout_column *columns;
	unsigned n, title_lines;
};

static void place(struct gt_table_layout *l)
{
	size_t at = l->g.indent;

	for (unsigned i = 0; i < l->g.ncolumns; i++) {
		if (l->g.hidden[i])
			continue;
		l->columns[l->n++] = (struct gt_layout_column){ i, (unsigned)at,
			(unsigned)l->g.widths[i], gt_is_text(&l->g.t->columns[i]) };
		at += l->g.widths[i] + GT_TABLE_GRID_GAP;
		if (gt_title_lines(gt_table_grid_title(&l->g, i), l->g.widths[i]) > l->title_lines)
			l->title_lines =
				gt_title_lines(gt_table_grid_title(&l->g, i), l->g.widths[i]);
	}
}

struct gt_table_layout *gt_table_layout_new(
	const struct gt_table *t, size_t width, struct gt_err *err)
{
	struct gt_table_layout *l = calloc(1, sizeof(*l));
	int rc = l ? gt_table_grid_open(&l->g, t) : -ENOMEM;

	if (!rc && !(l->columns = calloc(l->g.ncolumns + 1ul, sizeof(*l->columns))))
		rc = -ENOMEM;
	if (!rc)
		rc = gt_table_grid_add_stored_rows(&l->g);
	if (!rc)
		rc = gt_table_grid_fit(&l->g, width, false);
	if (!rc) {
		place(l);
		return l;
	}
	gt_table_layout_free(l);
	gt_err_set(err, rc, "out of memory (table layout)");
	return NULL;
}

void gt_table_layout_free(struct gt_table_layout *l)
{
	if (!l)
		return;
	gt_table_grid_close(&l->g);
	free(l->columns);
	free(l);
}

const struct gt_layout_column *gt_layout_columns(const struct gt_table_layout *l, unsigned *n)
{
	*n = l->n;
	return l->columns;
}

unsigned gt_layout_title_lines(const struct gt_table_layout *l) { return l->title_lines; }

const char *gt_layout_title(const struct gt_table_layout *l, unsigned i, unsigned line, size_t *len)
{
	const char *title = gt_table_grid_title(&l->g, l->columns[i].column);
	unsigned above = l->title_lines - gt_title_lines(title, l->columns[i].width);

	*len = 0;
	if (line < above)
		return title;
	for (; line > above; line--) {
		size_t n = gt_title_line(title, l->columns[i].width);

		title += n + (title[n] == ' ');
	}
	*len = gt_title_line(title, l->columns[i].width);
	return title;
}

struct gt_layout_cell gt_layout_cell(const struct gt_table_layout *l, unsigned row, unsigned i)
{
	const struct gt_table_grid_cell *s =
		&l->g.texts[(size_t)row * l->g.ncolumns + l->columns[i].column];

	return (struct gt_layout_cell){ gt_table_grid_text(&l->g, s), s->width, s->tone };
}
