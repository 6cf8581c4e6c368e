/* The unit test framework. A test is a function. T_MAIN runs the tests and prints a line for each,
 * which tests/run counts: "ok NAME", "FAIL NAME: file:line: why" or "skip NAME: reason".
 *
 * A failed check ends its test. CHECK prints the expression. CHECK_EQ compares two numbers and
 * CHECK_STR two strings, and both print the two values; a failed CHECK_EQ evaluates its arguments
 * once more. */
#ifndef T_H
#define T_H
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether this is a build with AddressSanitizer. */
#ifdef __SANITIZE_ADDRESS__
#define T_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define T_SANITIZED 1
#endif
#endif
#ifndef T_SANITIZED
#define T_SANITIZED 0
#endif
/* Of n random inputs, how many a test has: all of them in a plain build, and the first quarter in a
 * sanitized one, where each takes four times as long. */
#define T_INPUTS(n) (T_SANITIZED ? ((n) + 3) / 4 : (n))

static const char *t_failed, *t_skipped;
static char t_values[400] __attribute__((unused));
static int t_line;
#define CHECK(e)                                                                                   \
	do {                                                                                       \
		if (!(e)) {                                                                        \
			t_failed = #e;                                                             \
			t_line = __LINE__;                                                         \
			return;                                                                    \
		}                                                                                  \
	} while (0)
/* A number as text. */
static inline const char *t_number(char to[64], double d, long long i, int is_float)
{
	if (is_float)
		snprintf(to, 64, "%g", d);
	else
		snprintf(to, 64, "%lld", i);
	return to;
}
#define T_IS_FLOAT(v) _Generic((v), float : 1, double : 1, default : 0)
#define T_NUMBER(to, v) t_number(to, (double)(v), (long long)(v), T_IS_FLOAT(v))
#define CHECK_EQ(got, wanted)                                                                      \
	do {                                                                                       \
		if (!((got) == (wanted))) {                                                        \
			char a_[64], b_[64];                                                       \
			snprintf(t_values, sizeof(t_values), "%.150s is %s, not %s (%.60s)", #got, \
				T_NUMBER(a_, got), T_NUMBER(b_, wanted), #wanted);                 \
			t_failed = t_values;                                                       \
			t_line = __LINE__;                                                         \
			return;                                                                    \
		}                                                                                  \
	} while (0)
static inline int t_same(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}
#define CHECK_STR(got, wanted)                                                                     \
	do {                                                                                       \
		const char *a_ = (got), *b_ = (wanted);                                            \
		if (!t_same(a_, b_)) {                                                             \
			snprintf(t_values, sizeof(t_values), "%.100s is '%.120s', not '%.120s'",   \
				#got, a_ ? a_ : "NULL", b_ ? b_ : "NULL");                         \
			t_failed = t_values;                                                       \
			t_line = __LINE__;                                                         \
			return;                                                                    \
		}                                                                                  \
	} while (0)
#define SKIP(reason)                                                                               \
	do {                                                                                       \
		t_skipped = reason;                                                                \
		return;                                                                            \
	} while (0)
struct t_case {
	const char *name;
	void (*run)(void);
};
#define T(f)                                                                                       \
	{                                                                                          \
#f, f                                                                              \
	}
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
#define T_MAIN(...)                                                                                \
	int main(void)                                                                             \
	{                                                                                          \
		static const struct t_case cases[] = { __VA_ARGS__ };                              \
		return t_main(__FILE__, cases, sizeof(cases) / sizeof(*cases));                    \
	}
#endif
