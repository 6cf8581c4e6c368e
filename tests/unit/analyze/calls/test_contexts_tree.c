/* Contexts in the tree of tracks do not change the figures of their streams: every report over a
 * random program is the same, whether its streams are children of their devices or of contexts
 * of these devices. */
#define _GNU_SOURCE
#include "analyze/core/analysis.h"
#include "tests/unit/t.h"
#include "tests/unit/reports.h"
#include "tests/unit/random_program.h"

static struct rp program;

static struct gt_reader *made(unsigned seed, unsigned contexts)
{
	gpus_contexts = contexts;
	return rp_make_queued(&program, seed, seed % 2, seed % 3 ? 0 : 4);
}

static char *said(unsigned seed, unsigned contexts, const char *one, enum gt_table_format format)
{
	return report_text(made(seed, contexts), (const char *[]){ one, NULL }, &plain, 1, format);
}

static bool same(const char *what, char *a, char *b)
{
	bool is = a && b && !strcmp(a, b);

	if (!is)
		fprintf(stderr, "%s differs:\n%s\n%s\n", what, a ? a : "nothing",
			b ? b : "nothing");
	free(a);
	free(b);
	return is;
}

static void reports_are_the_same(void)
{
	for (unsigned seed = 1; seed <= T_INPUTS(12u); seed++)
		for (unsigned i = 0; gt_analyses[i]; i++) {
			const char *one = gt_analyses[i]->name;

			CHECK(same(one, said(seed, 0, one, GT_TEXT), said(seed, 1, one, GT_TEXT)));
			CHECK(same(one, said(seed, 0, one, GT_JSON), said(seed, 1, one, GT_JSON)));
			CHECK(same(one, said(seed, 0, one, GT_JSON),
				gpus_without_contexts(said(seed, 2, one, GT_JSON))));
		}
}

static void streams_say_of_which_context(void)
{
	char *text = said(1, 2, "streams", GT_TEXT);

	CHECK(text && strstr(text, "compute of context 1") &&
		!strstr(text, "compute of context 2"));
	free(text);
	text = said(1, 1, "streams", GT_TEXT);
	CHECK(text && strstr(text, "compute") && !strstr(text, "of context"));
	free(text);
}

T_MAIN(T(reports_are_the_same), T(streams_say_of_which_context))
