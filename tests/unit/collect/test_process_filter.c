/* The filter of -a: its automaton takes the names that fnmatch(3) takes. */
#include "collect/ipc/process_filter.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include "tests/unit/t.h"

static struct gt_process_filter filter;

static int set(const char *a, const char *b)
{
	const char *items[] = { a, b };
	struct gt_opt_list names = { .items = items, .n = b ? 2 : 1 };
	struct gt_err err = GT_ERR_INIT;

	return gt_process_filter_init(&filter, &names, NULL, &err);
}

/* A name as the kernel stores it: the bytes after the zero have any value. */
static bool has(const char *text)
{
	char name[GT_PROCESS_NAME];

	memset(name, 'x', sizeof(name));
	snprintf(name, sizeof(name), "%s", text);
	return gt_process_filter_has_name(&filter, name);
}

static void names(void)
{
	CHECK(!set("python3", NULL));
	CHECK(has("python3") && !has("python") && !has("python3x") && !has(""));
	CHECK(gt_process_filter_selects(&filter));
	CHECK(!set("*", NULL));
	CHECK(has("") && has("a") && has("123456789abcdef"));
	CHECK(!set("123456789abcde[f]", NULL));
	CHECK(has("123456789abcdef") && !has("123456789abcde") && !has("123456789abcdeg"));
	CHECK(!set("**a*?b**", NULL));
	CHECK(has("axb") && has("aaabbb") && !has("ab") && !has("ba"));
	CHECK(!set("[[:digit:]]*[!a-c]\\*", NULL));
	CHECK(has("1d*") && !has("1c*") && !has("d1*") && !has("1dx"));
	CHECK(!set("\xc3\xa4*", NULL));
	CHECK(has("\xc3\xa4\xff") && !has("\xc3"));
}

static void several(void)
{
	CHECK(!set("ab*", "*yz"));
	CHECK(has("ab") && has("abc") && has("xyz") && has("yz") && !has("ay") && !has("a"));
	CHECK(set("", "b")); /* no process has an empty name */
}

static void wrong(void)
{
	const char *items[] = { "123456789abcdef", "123456789abcdef", "123456789abcdef",
		"123456789abcdef", "" };
	struct gt_opt_list list = { .items = items, .n = 4 };
	struct gt_err err = GT_ERR_INIT;
	char glob[400];

	CHECK_EQ(set("123456789abcdef?", NULL), -EINVAL);
	CHECK_EQ(set("*123456789abcdef[g]*", NULL), -EINVAL);
	memset(glob, '*', sizeof(glob));
	glob[sizeof(glob) - 1] = 0;
	CHECK_EQ(set(glob, NULL), -EINVAL);
	/* 64 places */
	CHECK(!gt_process_filter_init(&filter, &list, NULL, &err));
	CHECK(has("123456789abcdef") && !has("123456789abcde"));
	list.n = 5;
	CHECK_EQ(gt_process_filter_init(&filter, &list, NULL, &err), -EINVAL);
	list.n = 0;
	err = (struct gt_err)GT_ERR_INIT;
	CHECK(!gt_process_filter_init(&filter, &list, NULL, &err));
	CHECK(!gt_process_filter_selects(&filter));
	CHECK_EQ(gt_process_filter_init(&filter, &list, "/nonexistent", &err), -EINVAL);
	CHECK_EQ(gt_process_filter_init(&filter, &list, "/proc", &err), -EINVAL);
}

static void make_text(char *text, const char *characters, size_t max)
{
	size_t n = (size_t)rand() % (max + 1);

	for (size_t i = 0; i < n; i++)
		text[i] = characters[(size_t)rand() % strlen(characters)];
	text[n] = 0;
}

static void as_fnmatch(void)
{
	unsigned different = 0, matches = 0;
	char glob[16], name[16];

	srand(1);
	for (int i = 0; i < 60000; i++) {
		make_text(glob, "ab**?[]!^-\\", 10);
		make_text(name, "abc[]-\\!", 6);
		/* fnmatch(3) takes a bracket without an end for a character, but not "[x-" */
		if ((*glob && glob[strlen(glob) - 1] == '-') || set(glob, NULL))
			continue;
		matches += has(name);
		if (has(name) != !fnmatch(glob, name, 0) && !different++)
			printf("'%s' and '%s'\n", glob, name);
	}
	CHECK_EQ(different, 0);
	CHECK(matches > 1000);
}

T_MAIN(T(names), T(several), T(wrong), T(as_fnmatch))
