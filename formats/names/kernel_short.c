#include "formats/names/kernel_short.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define LONG_ENOUGH 200u /* bytes of a form: it will be cut */
#define DEPTH_MAX 6u     /* of operations in operations */

/* ---- parts of a name ---- */

struct range {
	const char *s, *end;
};

/* The byte behind the bracket that closes the one at p, or end. */
static const char *behind_bracket(const char *p, const char *end)
{
	unsigned depth = 0;

	for (; p < end; p++) {
		if (strchr("<({[", *p))
			depth++;
		else if (strchr(">)}]", *p) && !(*p == '>' && p[-1] == '-') && !--depth)
			return p + 1;
	}
	return end;
}

static bool starts(const char *p, const char *end, const char *word)
{
	size_t n = strlen(word);

	return (size_t)(end - p) >= n && !memcmp(p, word, n);
}

/* The function's own name: it begins after the last top-level space and "::", and ends before its
 * parameters. *args: its template arguments. *scope: its namespaces, which begin after that space.
 */
static struct range function_of(
	const char *s, const char *end, struct range *args, const char **scope)
{
	static const char anonymous[] = "(anonymous namespace)";
	struct range name = { s, end };
	const char *p = s;

	*scope = s;
	args->s = args->end = NULL;
	while (p < end) {
		if (starts(p, end, anonymous)) {
			p += sizeof(anonymous) - 1;
			continue;
		}
		if (starts(p, end, "operator") &&
			(p == s || !(isalnum((unsigned char)p[-1]) || p[-1] == '_'))) {
			p += 8;
			while (p < end && strchr("<>()[]=+-*/%&|^!~,", *p) &&
				!(p[-1] != 'r' && (*p == '(' || *p == '<')))
				p++;
			p += starts(p, end, ")") || starts(p, end, "]");
			continue;
		}
		if (*p == '(')
			break;
		if (*p == '<' || *p == '{') {
			const char *close = behind_bracket(p, end);

			if (*p == '<') {
				args->s = p;
				args->end = close;
			}
			p = close;
			continue;
		}
		if (*p == ' ' || (*p == ':' && p + 1 < end && p[1] == ':')) {
			*scope = *p == ' ' ? p + 1 : *scope;
			p += *p == ' ' ? 1 : 2;
			name.s = p;
			args->s = args->end = NULL;
			continue;
		}
		p++;
	}
	name.end = args->s ? args->s : p;
	return name;
}

/* One template argument without the namespaces in it: "at::native::AddFunctor<float>" becomes
 * "AddFunctor<float>". */
static void add_plain(struct gt_buf *b, const char *s, const char *end)
{
	size_t word = b->len; /* where the name now being written began */

	for (const char *p = s; p < end; p++) {
		if (*p == ':' && p + 1 < end && p[1] == ':') {
			b->len = word;
			p++;
		} else if (starts(p, end, "(anonymous namespace)")) {
			p += 20;
		} else if (*p == ' ' && p + 1 < end && p[1] == '>') {
			continue;
		} else {
			gt_buf_byte(b, (uint8_t)*p);
			if (!isalnum((unsigned char)*p) && *p != '_')
				word = b->len;
		}
	}
}

static const char *next_argument(const char *p, const char *end)
{
	while (p < end && *p != ',')
		p = strchr("<({[", *p) ? behind_bracket(p, end) : p + 1;
	return p;
}

/* For a name that gt_demangle refuses: the last identifier of its nested name. */
static struct range mangled_word(const char *s)
{
	const char *end = s + strlen(s), *p = s + 2;
	struct range r = { s, end };

	if (strncmp(s, "_Z", 2))
		return r;
	p += strspn(p, "NLKVr");
	while (isdigit((unsigned char)*p) || (*p == 'L' && isdigit((unsigned char)p[1]))) {
		char *word;
		unsigned long n = strtoul(p + (*p == 'L'), &word, 10);

		if (!n || n > (size_t)(end - word))
			break;
		r = (struct range){ word, word + n };
		p = word + n;
	}
	return r;
}

/* ---- arguments ---- */

enum kind { LITERAL, DATA_TYPE, METADATA, OPERATION };

/* The parts of an argument that determine its kind. */
struct argument {
	struct range word; /* its name: of a lambda, that of the function that it is in */
	struct range args; /* the template arguments of that; s NULL: none */
	bool lambda;
	unsigned long number; /* of the lambda in its function, from 1 */
};

static struct range trim(struct range r)
{
	while (r.s < r.end && *r.s == ' ')
		r.s++;
	while (r.s < r.end && r.end[-1] == ' ')
		r.end--;
	return r;
}

static bool is_word(struct range r, const char *word)
{
	return (size_t)(r.end - r.s) == strlen(word) && !memcmp(r.s, word, strlen(word));
}

static bool contains(struct range r, const char *word)
{
	size_t n = strlen(word);

	for (const char *p = r.s; (size_t)(r.end - p) >= n; p++)
		if (!memcmp(p, word, n))
			return true;
	return false;
}

static bool ends(struct range r, const char *word)
{
	size_t n = strlen(word);

	return (size_t)(r.end - r.s) > n && !memcmp(r.end - n, word, n);
}

/* The next of the arguments at *p, which it moves behind it. false: there is none. */
static bool next_of(const char **p, const char *end, struct range *to)
{
	const char *stop;

	if (*p >= end)
		return false;
	stop = next_argument(*p, end);
	*to = trim((struct range){ *p, stop });
	*p = stop + (stop < end);
	return true;
}

/* The inside of <...>. */
static struct range inside(struct range args)
{
	if (!args.s)
		return (struct range){ NULL, NULL };
	return (struct range){ args.s + 1,
		args.end - (args.end > args.s + 1 && args.end[-1] == '>') };
}

/* One part between "::" from p: its word, and its template arguments. Returns the end of the part.
 */
static const char *read_part(const char *p, const char *end, struct range *word, struct range *args)
{
	static const char anonymous[] = "(anonymous namespace)";

	*word = (struct range){ p, p };
	*args = (struct range){ NULL, NULL };
	if (starts(p, end, anonymous))
		return p + sizeof(anonymous) - 1;
	while (p < end && !(*p == ':' && p + 1 < end && p[1] == ':')) {
		const char *close = strchr("<({[", *p) ? behind_bracket(p, end) : p + 1;

		if (*p == '<' && !args->s)
			*args = (struct range){ p, close };
		if (word->end == p && (isalnum((unsigned char)*p) || *p == '_' || *p == '~'))
			word->end = p + 1;
		p = close;
	}
	return p;
}

/* Reads "a::b<c>(d)::{lambda(e)#1}::operator()() const::{lambda(f)#2}". */
static struct argument read_argument(struct range r)
{
	struct argument a = { .word = { r.s, r.s } };
	const char *p = r.s;

	if (p < r.end && *p == '&') { /* a function: &(type name<..>(..)) */
		struct range args;
		const char *scope;

		p += 1 + (p + 1 < r.end && p[1] == '(');
		a.word = function_of(p, r.end, &args, &scope);
		a.args = args;
		return a;
	}
	while (p < r.end) {
		struct range word, args;
		const char *stop = read_part(p, r.end, &word, &args);

		if (*p == '{') {
			const char *number = stop;

			while (number > p && number[-1] != '#')
				number--;
			a.lambda = true;
			a.number = number > p ? strtoul(number, NULL, 10) : 1;
		} else if (word.s < word.end && !is_word(word, "operator") &&
			!is_word(word, "const")) {
			a.word = word;
			a.args = args;
		}
		p = stop + 2 < r.end ? stop + 2 : r.end;
	}
	return a;
}

static bool is_listed(struct range word, const char *const *list)
{
	for (; *list; list++)
		if (is_word(word, *list))
			return true;
	return false;
}

static bool is_data_type(struct range word)
{
	static const char *const types[] = { "float", "double", "int", "long", "short", "char",
		"bool", "signed", "unsigned", "void", "half", "__half", "half2", "__half2", "Half",
		"BFloat16", "__nv_bfloat16", "nv_bfloat16", "__nv_bfloat162", "__hip_bfloat16",
		"hip_bfloat16", "bfloat16_t", "half_t", "tfloat32_t", "complex", "float2", "float4",
		"Float8_e4m3fn", "Float8_e5m2", "Float8_e4m3fnuz", "__nv_fp8_e4m3", "__nv_fp8_e5m2",
		"float_e4m3_t", "float_e5m2_t", "uint8_t", "int8_t", "uint16_t", "int16_t",
		"uint32_t", "int32_t", "uint64_t", "int64_t", "size_t", "auto", NULL };

	return is_listed(word, types);
}

static bool is_metadata(struct range word)
{
	static const char *const parts[] = { "Metadata", "array", "Array", "tuple", "Tuple",
		"OffsetCalculator", "Accessor", "TensorInfo", "Params", "Arguments", "LoadWith",
		"StoreWith", "OpaqueType", "integral_constant", "sequence", "Stride", "Layout",
		"Policy", "Allocator", "Shape", NULL };

	for (const char *const *part = parts; *part; part++)
		if (contains(word, *part))
			return true;
	return false;
}

/* Operations that say only that there is one in them. */
static bool is_wrapper(struct range word)
{
	static const char *const words[] = { "ReduceOp", "func_wrapper_t", "gpu_kernel_impl",
		"gpu_kernel_impl_nocast", "gpu_index_kernel", "opmath_gpu_kernel_with_scalars",
		"detail", NULL };

	return is_listed(word, words) || contains(word, "iterator") || contains(word, "Iterator");
}

static enum kind kind_of(struct range r, struct argument *a)
{
	*a = (struct argument){ .word = r };
	if (r.s == r.end)
		return LITERAL;
	if (isdigit((unsigned char)*r.s) || *r.s == '-' || *r.s == '\'' || *r.s == '"' ||
		is_word(r, "true") || is_word(r, "false") || is_word(r, "nullptr") ||
		(*r.s == '(' && !starts(r.s, r.end, "(anonymous namespace)")))
		return LITERAL;
	*a = read_argument(r);
	if (a->word.s == a->word.end)
		return METADATA;
	if (a->lambda)
		return OPERATION;
	if (is_data_type(a->word))
		return DATA_TYPE;
	return is_metadata(a->word) ? METADATA : OPERATION;
}

/* ---- the form ---- */

/* The word without ends that say nothing. */
static struct range without_ends(struct range word)
{
	static const char *const ending[] = { "Functor", "_functor", "_kernel", "_impl", "_cuda",
		"Kernel_", NULL };

	for (size_t i = 0; ending[i];)
		if (ends(word, ending[i])) {
			word.end -= strlen(ending[i]);
			i = 0;
		} else
			i++;
	return word;
}

static void add_operations(struct gt_buf *b, struct range args, bool *any, unsigned depth);

/* Appends an operation; *any: one was written before it in the same brackets. */
static void add_operation(struct gt_buf *b, const struct argument *a, bool *any, unsigned depth)
{
	struct range word = without_ends(a->word);
	bool inner = false;
	size_t before = b->len;

	if (is_wrapper(a->word) && a->args.s && depth < DEPTH_MAX) {
		add_operations(b, a->args, any, depth + 1);
		if (b->len > before)
			return;
	}
	gt_buf_str(b, *any ? ", " : "");
	*any = true;
	gt_buf_add(b, word.s, (size_t)(word.end - word.s));
	before = b->len;
	if (a->args.s && depth < DEPTH_MAX) {
		gt_buf_byte(b, '<');
		add_operations(b, a->args, &inner, depth + 1);
		if (inner)
			gt_buf_byte(b, '>');
		else
			b->len = before;
	}
	if (a->lambda && a->number > 1)
		gt_buf_printf(b, "#%lu", a->number);
}

/* Appends the operations among these arguments. */
static void add_operations(struct gt_buf *b, struct range args, bool *any, unsigned depth)
{
	struct range in = inside(args), one;
	struct argument a;

	while (b->len < LONG_ENOUGH && next_of(&in.s, in.end, &one))
		if (kind_of(one, &a) == OPERATION)
			add_operation(b, &a, any, depth);
}

/* The first data type among the words of an argument. false: there is none. */
static bool find_word_of_type(struct range argument, struct range *to)
{
	for (const char *p = argument.s; p < argument.end;) {
		struct range word = { p, p };

		while (word.end < argument.end &&
			(isalnum((unsigned char)*word.end) || *word.end == '_'))
			word.end++;
		if (word.end > word.s && is_data_type(word) && !is_word(word, "void")) {
			*to = word;
			return true;
		}
		p = word.end + (word.end == word.s);
	}
	return false;
}

static bool find_data_type(struct range args, struct range *to)
{
	struct range in = inside(args), one;
	struct argument a;

	while (next_of(&in.s, in.end, &one))
		if (kind_of(one, &a) != LITERAL && find_word_of_type(one, to))
			return true;
	return false;
}

/* Appends all arguments, or only the literals. */
static void add_arguments(struct gt_buf *b, struct range args, bool literals, bool *any)
{
	struct range in = inside(args), one;
	struct argument a;

	while (b->len < LONG_ENOUGH && next_of(&in.s, in.end, &one)) {
		if (literals && kind_of(one, &a) != LITERAL)
			continue;
		gt_buf_str(b, *any ? ", " : "");
		*any = true;
		add_plain(b, one.s, one.end);
	}
}

static void add_brackets(struct gt_buf *b, struct range args, enum gt_short_detail detail)
{
	bool any = false, operations = false;
	size_t start = b->len;
	struct range type;

	gt_buf_byte(b, '<');
	if (detail != GT_SHORT_ALL) {
		add_operations(b, args, &operations, 0);
		b->len = start + 1;
	}
	if (operations && detail == GT_SHORT_LITERALS)
		add_arguments(b, args, true, &any);
	if (operations)
		add_operations(b, args, &any, 0);
	else
		add_arguments(b, args, false, &any);
	if (operations && find_data_type(args, &type)) {
		gt_buf_str(b, ", ");
		gt_buf_add(b, type.s, (size_t)(type.end - type.s));
	}
	gt_buf_byte(b, '>');
}

/* Is an operation among the arguments? */
static bool has_operation(struct range args)
{
	struct range in = inside(args), one;
	struct argument a;

	while (next_of(&in.s, in.end, &one))
		if (kind_of(one, &a) == OPERATION)
			return true;
	return false;
}

void gt_short_form(
	struct gt_buf *b, const char *raw, const char *plain, enum gt_short_detail detail)
{
	const char *name = plain ? plain : raw, *scope = NULL;
	struct range args = { NULL, NULL }, f;

	f = plain || strncmp(raw, "_Z", 2) ? function_of(name, name + strlen(name), &args, &scope)
					   : mangled_word(raw);
	if (f.s >= f.end) {
		f = (struct range){ raw, raw + strlen(raw) };
		scope = NULL;
	}
	if (detail == GT_SHORT_SCOPE && scope)
		gt_buf_add(b, scope, (size_t)(f.s - scope));
	if (detail != GT_SHORT_FUNCTION && detail != GT_SHORT_ALL && args.s && has_operation(args))
		f = without_ends(f);
	gt_buf_add(b, f.s, (size_t)(f.end - f.s));
	if (args.s && detail != GT_SHORT_FUNCTION)
		add_brackets(b, args, detail);
}
