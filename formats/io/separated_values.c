#include "formats/io/separated_values.h"

#include <stdlib.h>
#include <string.h>
#include "formats/text/printable.h"

/* Would a spreadsheet take it for a formula? Numbers and single signs are none. */
static bool is_formula(const char *s)
{
	char *end;

	if (!*s || !s[1] || !strchr("=+-@\t", *s))
		return false;
	strtod(s, &end);
	return *end;
}

/* The number of bytes at the beginning that neither format changes: ASCII but for control
 * characters, quotes and backslashes. */
static size_t plain_length(const char *s)
{
	static const bool special[256] = {
		[0 ... 0x1f] = true, ['"'] = true, ['\\'] = true, [0x7f ... 0xff] = true
	};
	size_t n = 0;

	while (!special[(unsigned char)s[n]])
		n++;
	return n;
}

/* RFC 4180: quoted if necessary, with quotes doubled. Also quoted: texts that look like the line "#
 * NAME" above a table. */
static void put_csv_slowly(struct gt_out *out, const char *s)
{
	bool formula = is_formula(s), quoted = formula || strchr(" #", *s) || strpbrk(s, ",\"\r\n"),
	     shown;

	gt_out_str(out, formula ? "\"'" : quoted ? "\"" : "");
	for (size_t n; *s; s += n) {
		n = plain_length(s);
		if (n) {
			gt_out_add(out, s, n);
			continue;
		}
		n = gt_printable_char(s, &shown);
		if (*s == '"')
			gt_out_add(out, "\"\"", 2);
		else if (shown || *s == '\n' || *s == '\t')
			gt_out_add(out, s, n);
		else
			gt_out_add(out, "?", 1);
	}
	gt_out_str(out, quoted ? "\"" : "");
}

void gt_out_csv(struct gt_out *out, const char *s)
{
	static const bool special[256] = {
		[0 ... 0x1f] = true, ['"'] = true, [','] = true, [0x7f ... 0xff] = true
	};
	size_t n = 0;

	while (!special[(unsigned char)s[n]])
		n++;
	if (s[n] || (*s && strchr(" #=+-@", *s)))
		put_csv_slowly(out, s);
	else
		gt_out_add(out, s, n);
}

void gt_out_tsv(struct gt_out *out, const char *s)
{
	static const char plain[] = "\t\n\r\\", letter[] = "tnr\\";
	size_t n;
	bool shown;

	gt_out_str(out, is_formula(s) ? "'" : "");
	for (; *s; s += n) {
		const char *at = strchr(plain, *s);

		n = plain_length(s);
		if (n) {
			gt_out_add(out, s, n);
			continue;
		}
		n = gt_printable_char(s, &shown);
		if (at)
			gt_out_printf(out, "\\%c", letter[at - plain]);
		else
			gt_out_add(out, shown ? s : "?", shown ? n : 1);
	}
}
