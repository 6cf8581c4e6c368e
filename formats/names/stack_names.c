#include "formats/names/stack_names.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "formats/names/demangle.h"
#include "formats/trace/read/frame_files.h"

#define ANONYMOUS "(anonymous namespace)"
#define ARGUMENTS_MAX 24 /* bytes of template arguments that are shown */
#define NESTED_MAX 200   /* brackets in brackets */

/* ---- names of C++ functions ---- */

/* The length of an operator's name at p, as "operator()"; 0: none is there. */
static size_t operator_length(const char *name, const char *p)
{
	static const char *const symbols[] = { "()", "[]", "->*", "->", "<=>", "<<=", ">>=", "<<",
		">>", "&&", "||", "++", "--" };
	const char *s = p + 8;

	if (strncmp(p, "operator", 8) ||
		(p > name && (isalnum((unsigned char)p[-1]) || p[-1] == '_')))
		return 0;
	for (size_t i = 0; i < sizeof(symbols) / sizeof(*symbols); i++)
		if (!strncmp(s, symbols[i], strlen(symbols[i])))
			return 8 + strlen(symbols[i]);
	if (!*s || !strchr("<>=-!+*/%^&|~,", *s))
		return 8;
	return 9 + (s[1] == '=');
}

/* May the byte at p be a bracket? Between parentheses, and behind them, < is an operator. */
static bool is_open_bracket(const char *p, char closing)
{
	return strchr("<({[", *p) && !(*p == '<' && (closing == ')' || p[-1] == ')'));
}

/* The byte behind the bracket that closes the one at p. */
static const char *behind_bracket(const char *name, const char *p)
{
	char closing[NESTED_MAX] = { *p == '(' ? ')' : *p + 2 };
	unsigned depth = 1;

	for (p++; *p && depth;) {
		size_t word = operator_length(name, p);

		if (!word && depth < NESTED_MAX && is_open_bracket(p, closing[depth - 1]))
			closing[depth++] = (char)(*p == '(' ? ')' : *p + 2);
		else if (!word && *p == closing[depth - 1])
			depth--;
		p += word ? word : 1;
	}
	return p;
}

/* "{lambda(int)#1}" without the parameters */
static void put_braces(struct gt_buf *to, const char *p, const char *end)
{
	const char *open = memchr(p, '(', (size_t)(end - p)), *number = end;

	while (open && number > open && *number != '#')
		number--;
	gt_buf_add(to, p, (size_t)((open ? open : end) - p));
	if (open)
		gt_buf_add(to, number, (size_t)(end - number));
}

/* Reads the parameters at p. Returns the scope's "::" behind them, or the end of the name. */
static const char *skip_parameters(const char *name, const char *p)
{
	p = behind_bracket(name, p);
	p += !strncmp(p, " const", 6) ? 6 : 0;
	p += !strncmp(p, " &&", 3) ? 3 : !strncmp(p, " &", 2) ? 2 : 0;
	return strncmp(p, "::", 2) ? p + strlen(p) : p;
}

/* A demangled name without its type, parameters, and template arguments that are long. */
static void put_cxx_function(struct gt_buf *to, const char *name)
{
	size_t start = to->len, word;
	bool conversion = false; /* "operator int", "operator new" */
	const char *p = name, *end;

	for (; *p; p = end) {
		end = p + 1;
		if ((word = operator_length(name, p))) {
			end = p + word;
			conversion = *end == ' ' && end[1] != '<';
			gt_buf_add(to, p, word);
			if (*end == ' ' && end[1] == '<')
				gt_buf_byte(to, (uint8_t)*end++);
		} else if (!strncmp(p, ANONYMOUS, sizeof(ANONYMOUS) - 1)) {
			end = p + sizeof(ANONYMOUS) - 1;
			gt_buf_str(to, ANONYMOUS);
		} else if (*p == '<') {
			end = behind_bracket(name, p);
			if (end - p > ARGUMENTS_MAX + 2)
				gt_buf_str(to, "<...>");
			else
				gt_buf_add(to, p, (size_t)(end - p));
		} else if (*p == '{') {
			end = behind_bracket(name, p);
			put_braces(to, p, end);
		} else if (*p == '(' && to->len == start) { /* a type: "void (*f())()" */
			end = p[1] == '*' || p[1] == '&' ? p + 2 : behind_bracket(name, p);
		} else if (*p == '(') {
			end = skip_parameters(name, p);
		} else if (*p == ' ' && !conversion) {
			to->len = start;
		} else {
			gt_buf_byte(to, (uint8_t)*p);
		}
	}
}

void gt_put_function_name(struct gt_buf *to, const char *name)
{
	size_t len = strcspn(name, "@");
	char *symbol = strndup(name, len), *plain = symbol ? gt_demangle(symbol) : NULL;

	if (plain)
		put_cxx_function(to, plain);
	else
		gt_buf_add(to, name, len);
	free(symbol);
	free(plain);
}

static void put_python(struct gt_buf *to, const struct gt_segment *seg, uint32_t text,
	const struct gt_frame *f, enum gt_stack_by by)
{
	uint32_t parts = gt_segment_path_parts(seg, f->file, GT_SOURCE_PARTS);
	const char *file = gt_path_last_parts(gt_str(seg, f->file), parts);

	if (f->file == GT_NONE || (by == GT_STACK_LINE && parts == GT_SOURCE_PARTS))
		gt_buf_str(to, gt_str(seg, text));
	else if (by == GT_STACK_MODULE || f->function == GT_NONE)
		gt_buf_str(to, file);
	else if (by == GT_STACK_LINE && f->line)
		gt_buf_printf(to, "%s (%s:%u)", gt_str(seg, f->function), file, f->line);
	else
		gt_buf_printf(to, "%s (%s)", gt_str(seg, f->function), file);
}

static void put_native(struct gt_buf *to, const struct gt_segment *seg, uint32_t text,
	const struct gt_frame *f, enum gt_stack_by by)
{
	uint32_t parts = gt_segment_path_parts(seg, f->module, GT_MODULE_PARTS);
	const char *module =
		f->module == GT_NONE ? NULL : gt_path_last_parts(gt_str(seg, f->module), parts);
	const char *inlined = f->kind == GT_FRAME_INLINED ? ", inlined" : "";

	if (by == GT_STACK_MODULE && module) {
		gt_buf_str(to, module);
	} else if (f->function == GT_NONE && module && f->offset && parts > GT_MODULE_PARTS) {
		gt_buf_printf(to, "%s+0x%" PRIx64, module, f->offset);
	} else if (f->function == GT_NONE) {
		gt_buf_str(to, gt_str(seg, text));
	} else {
		gt_put_function_name(to, gt_str(seg, f->function));
		if (by == GT_STACK_LINE && f->file != GT_NONE && f->line)
			gt_buf_printf(to, " (%s:%u%s)",
				gt_path_last_parts(gt_str(seg, f->file),
					gt_segment_path_parts(seg, f->file, GT_SOURCE_PARTS)),
				f->line, inlined);
		else if (module)
			gt_buf_printf(to, " (%s%s)", module, inlined);
	}
}

void gt_frame_name(
	struct gt_buf *to, const struct gt_segment *seg, uint32_t text, enum gt_stack_by by)
{
	const struct gt_frame *f = gt_segment_frame(seg, text);

	if (f && f->kind == GT_FRAME_PYTHON)
		put_python(to, seg, text, f, by);
	else if (f && f->kind != GT_FRAME_UNKNOWN && f->kind != GT_FRAME_MARK)
		put_native(to, seg, text, f, by);
	else
		gt_buf_str(to, gt_str(seg, text));
}

void gt_stack_row_name(
	struct gt_buf *to, const struct gt_segment *seg, uint32_t text, enum gt_stack_by by)
{
	const struct gt_frame *f = gt_segment_frame(seg, text);

	if (by == GT_STACK_MODULE || !f || f->kind == GT_FRAME_PYTHON || f->module == GT_NONE ||
		f->function != GT_NONE) {
		gt_frame_name(to, seg, text, by);
	} else {
		gt_frame_name(to, seg, text, GT_STACK_MODULE);
		gt_buf_str(to, " (no symbols)");
	}
}

bool gt_frame_is_function(const struct gt_segment *seg, uint32_t text)
{
	const struct gt_frame *f = gt_segment_frame(seg, text);

	return !f || f->kind != GT_FRAME_MARK;
}

/* Does the mark stand for the line of Python that the stack should count for? */
static bool is_instead_of_line(const char *mark)
{
	return !strcmp(mark, GT_MARK_NATIVE_ONLY) || !strcmp(mark, GT_MARK_UNREADABLE);
}

static bool begins_with_any(const char *text, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!strncmp(text, words[i], strlen(words[i])))
			return true;
	return false;
}

/* A function's name from its outermost scope on: the name itself, or, if it is mangled, what
 * follows the length of the first identifier ("_ZN6cudart3runEv" is "cudart3runEv"). */
static const char *skip_mangling(const char *name)
{
	if (strncmp(name, "_Z", 2))
		return name;
	name += 2;
	name += strspn(name, "NKL");
	return name + strspn(name, "0123456789");
}

/* Is the function one of CUDA's libraries, of the runtime that is linked into the program, or one
 * that nvcc generates to launch a kernel? Its callers say more about the program. */
static bool is_of_cuda(const struct gt_segment *seg, const struct gt_frame *f)
{
	static const char *const libraries[] = { "libcuda", "libcublas", "libcudnn", "libcufft",
		"libcurand", "libcusparse", "libcusolver", "libnvrtc", "libnvJitLink", "libcupti",
		"libnccl" };
	static const char *const functions[] = { "libcudart_static_", "__cuda", "cudart",
		"__device_stub_", "__wrapper__device_stub_" };
	const char *name =
		f && f->function != GT_NONE ? skip_mangling(gt_str(seg, f->function)) : "";

	if (f && f->module != GT_NONE &&
		begins_with_any(gt_path_last_parts(gt_str(seg, f->module), 1), libraries,
			sizeof(libraries) / sizeof(*libraries)))
		return true;
	return begins_with_any(name, functions, sizeof(functions) / sizeof(*functions)) ||
		(!strncmp(name, "cuda", 4) && name[4] >= 'A' && name[4] <= 'Z');
}

uint32_t gt_stack_caller(const struct gt_segment *seg, uint64_t stack)
{
	const struct gt_stack *s = stack < seg->nstacks ? &seg->stacks[stack] : NULL;
	uint32_t inner = GT_NONE, of_cuda = GT_NONE, mark = GT_NONE;

	for (uint32_t i = s ? s->n : 0; i-- > 0;) {
		const uint32_t text = s->frames[i];
		const struct gt_frame *f = gt_segment_frame(seg, text);

		if (f && f->kind == GT_FRAME_PYTHON)
			return text;
		if (f && f->kind == GT_FRAME_MARK)
			mark = is_instead_of_line(gt_str(seg, text)) ? text : mark;
		else if (is_of_cuda(seg, f))
			of_cuda = inner == GT_NONE ? text : of_cuda;
		else if (inner == GT_NONE)
			inner = text;
	}
	if (mark != GT_NONE)
		return mark;
	return inner == GT_NONE ? of_cuda : inner;
}

void gt_stack_text(
	struct gt_buf *to, const struct gt_segment *seg, uint64_t stack, enum gt_stack_by by)
{
	const struct gt_stack *s = stack < seg->nstacks ? &seg->stacks[stack] : NULL;

	for (uint32_t i = s ? s->n : 0; i-- > 0;) {
		gt_frame_name(to, seg, s->frames[i], by);
		gt_buf_str(to, i ? " < " : "");
	}
}

bool gt_has_stacks(const struct gt_reader *r)
{
	for (uint32_t i = 0; i < gt_reader_segments(r); i++)
		if (gt_reader_segment(r, i)->nstacks)
			return true;
	return false;
}
