/* Names cut for narrow columns. */
#include "tests/unit/t.h"

#include "formats/text/utf8.h"
#include "formats/table/name_ellipsis.h"

#define MANY 3000

/* Clips copies of the texts. The result is static, until the next call. */
static char **clipped(const char *const *texts, size_t n, size_t width)
{
	static char *got[MANY];

	for (size_t i = 0; i < MANY; i++) {
		free(got[i]);
		got[i] = i < n ? strdup(texts[i]) : NULL;
	}
	if (gt_clip(got, n, width))
		abort();
	return got;
}

static void names_keep_both_ends(void)
{
	static const char *const names[] = { "cuDevicePrimaryCtxRetain", "cuInit",
		"cuDevicePrimaryCtxRetain" };
	char **got = clipped(names, 3, 16);

	CHECK(!strcmp(got[0], "cuDevice..Retain") && !strcmp(got[1], "cuInit") &&
		!strcmp(got[2], got[0]));
	got = clipped(names, 3, 24);
	CHECK(!strcmp(got[0], names[0]));
}

static void twins_are_cut_elsewhere(void)
{
	static const char *const ends[] = { "cuMemcpyHtoDAsync_v2", "cuMemcpyDtoHAsync_v2" };
	static const char *const heads[] = { "aaaaaaaaaaaaaaaaaaaaaaaaaaa1",
		"aaaaaaaaaaaaaaaaaaaaaaaaaaa2" };
	char **got = clipped(ends, 2, 12);

	CHECK(!strcmp(got[0], "cuMemcpyHt..") && !strcmp(got[1], "cuMemcpyDt.."));
	got = clipped(heads, 2, 10);
	CHECK(strcmp(got[0], got[1]) && strlen(got[0]) == 10 && strlen(got[1]) == 10);
}

/* Kernels of one family, with equal beginnings and ends. */
static void what_differs_in_the_middle_is_shown(void)
{
	static const char *const kernels[] = {
		"sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize64x64x8_stage3_warpsize1x4x1_ffma",
		"sm80_xmma_gemm_f32f32_f32f32_f32_nt_n_tilesize64x64x8_stage3_warpsize1x4x1_ffma",
		"sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize64x64x8_stage3_warpsize1x4x1_ffma"
	};
	static const char *const letters[] = { "aaaaaaaaaaaaaaaaXaaaaaaaaaaaaaaaa",
		"aaaaaaaaaaaaaaaaYaaaaaaaaaaaaaaaa", "aaaaaaaaaaaaaaaaXaaaaaaaaaaaaaaaa" };
	char **got = clipped(kernels, 3, 20);

	CHECK(strstr(got[0], "nn_n_t") && strstr(got[1], "nt_n_t") && strstr(got[2], "_tn_n_t"));
	got = clipped(letters, 3, 10);
	CHECK(!strcmp(got[0], "aa..aaXa..") && !strcmp(got[1], "aa..aaYa..") &&
		!strcmp(got[2], got[0]));
	got = clipped(letters, 3, 8);
	CHECK(!strcmp(got[0], "aa..aX..") && !strcmp(got[1], "aa..aY.."));
}

/* They differ at two places, each from some at the one and from some at the other. */
static void equal_cuts_are_numbered(void)
{
	static const char *const names[] = { "aaaaaaaaaaaaaaaaXaaaaaaaaaaaaaaaaXaaaaaaaaaaaaaaa",
		"aaaaaaaaaaaaaaaaXaaaaaaaaaaaaaaaaYaaaaaaaaaaaaaaa",
		"aaaaaaaaaaaaaaaaYaaaaaaaaaaaaaaaaXaaaaaaaaaaaaaaa",
		"aaaaaaaaaaaaaaaaYaaaaaaaaaaaaaaaaYaaaaaaaaaaaaaaa" };
	char **got = clipped(names, 4, 10);

	CHECK(!strcmp(got[0], "aaaaaa..~1") && !strcmp(got[1], "aaaaaa..~2") &&
		!strcmp(got[2], "aaaaaa..~3") && !strcmp(got[3], "aaaaaa..~4"));
}

/* A short name that looks like the cut of a long one, and one that looks numbered. */
static void short_names_differ_from_cut_ones(void)
{
	static const char *const names[] = { "aaaaa..aaa", "aaaaaaaaaaaaaaaaXaaaaaaaaaaaaaaaa",
		"aaaaaaaa..", "aaa..aaaaa", "..aaaaaaaa", "aaaaaa..~1" };
	char **got = clipped(names, 6, 10);

	for (size_t i = 0; i < 6; i++)
		for (size_t k = 0; k < i; k++)
			CHECK(strcmp(got[i], got[k]));
	CHECK(!strcmp(got[0], names[0]) && !strcmp(got[5], names[5]));
}

static void characters_are_not_cut(void)
{
	static const char *const names[] = {
		"\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xb6\xc3\xb6\xc3\xb6\xc3\xb6\xc3\xb6\xc3\xb6"
	};
	char **got = clipped(names, 1, 10);

	CHECK(!strcmp(got[0],
		      "\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4..\xc3\xb6\xc3\xb6\xc3\xb6") &&
		gt_utf8_width(got[0]) == 10);
}

/* Widths are in columns; some characters take two. Combining marks stay with their characters. */
static void wide_characters_are_not_cut(void)
{
	static const char *const one[] = { "学習学習学習学習" },
				 *const marked[] = { "abcde\u0301fghijklmno" };
	static const char *const twins[] = { "行列積カーネル甲の計算", "行列積カーネル乙の計算" };
	char **got = clipped(one, 1, 11);

	CHECK(!strcmp(got[0], "学習..学習") && gt_utf8_width(got[0]) == 10);
	got = clipped(marked, 1, 10);
	CHECK_STR(got[0], "abcde\u0301..mno");
	for (size_t width = 8; width < 22; width++) {
		got = clipped(twins, 2, width);
		CHECK(strcmp(got[0], got[1]) && gt_utf8_width(got[0]) <= width &&
			gt_utf8_width(got[1]) <= width);
	}
}

/* Thousands of names that differ in one place: each fits the width, and no two are equal. */
static void many_names_stay_apart(void)
{
	static const char *names[MANY];
	static char text[MANY][80];
	char **got;

	for (size_t i = 0; i < MANY; i++) {
		memset(text[i], 'x', 60);
		snprintf(text[i] + i % 50, 8, "%05zu", i);
		text[i][i % 50 + 5] = 'x';
		names[i] = text[i];
	}
	got = clipped(names, MANY, 14);
	for (size_t i = 0; i < MANY; i++) {
		CHECK(strlen(got[i]) <= 14);
		for (size_t k = 0; k < i; k++)
			CHECK(strcmp(got[i], got[k]));
	}
}

T_MAIN(T(names_keep_both_ends), T(twins_are_cut_elsewhere), T(what_differs_in_the_middle_is_shown),
	T(equal_cuts_are_numbered), T(short_names_differ_from_cut_ones), T(characters_are_not_cut),
	T(wide_characters_are_not_cut), T(many_names_stay_apart))
