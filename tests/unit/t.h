/* The whole unit test framework: a test is a function; CHECK says where it failed; T_MAIN runs them and prints
 * "ok NAME", "FAIL NAME: file:line: expression" or "skip NAME: reason" lines, which tests/run counts. */
#ifndef T_H
#define T_H
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *t_failed, *t_skipped;
static int t_line;
#define CHECK(e) do { if (!(e)) { t_failed = #e; t_line = __LINE__; return; } } while (0)
#define SKIP(reason) do { t_skipped = reason; return; } while (0)
struct t_case { const char *name; void (*run)(void); };
#define T(f) { #f, f }
static inline int t_main(const char *file, const struct t_case *c, size_t n)
{
	int bad = 0;

	for (size_t i = 0; i < n; i++) {
		t_failed = t_skipped = NULL;
		c[i].run();
		if (t_failed)
			printf("FAIL %s: %s:%d: %s\n", c[i].name, file, t_line, t_failed), bad = 1;
		else if (t_skipped)
			printf("skip %s: %s\n", c[i].name, t_skipped);
		else
			printf("ok %s\n", c[i].name);
		fflush(stdout);
	}
	return bad;
}
#define T_MAIN(...) int main(void) { static const struct t_case cases[] = { __VA_ARGS__ }; return t_main(__FILE__, cases, sizeof(cases) / sizeof(*cases)); }
#endif
