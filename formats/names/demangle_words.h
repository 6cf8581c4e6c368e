/* The codes of the Itanium mangling: for demangle.c only. */
#ifndef GT_DEMANGLE_WORDS_H
#define GT_DEMANGLE_WORDS_H

static const struct {
	char code[3];
	const char *text;
} operators[] = {
	{ "nw", " new" },
	{ "na", " new[]" },
	{ "dl", " delete" },
	{ "da", " delete[]" },
	{ "aw", " co_await" },
	{ "ps", "+" },
	{ "ng", "-" },
	{ "ad", "&" },
	{ "de", "*" },
	{ "co", "~" },
	{ "pl", "+" },
	{ "mi", "-" },
	{ "ml", "*" },
	{ "dv", "/" },
	{ "rm", "%" },
	{ "an", "&" },
	{ "or", "|" },
	{ "eo", "^" },
	{ "aS", "=" },
	{ "pL", "+=" },
	{ "mI", "-=" },
	{ "mL", "*=" },
	{ "dV", "/=" },
	{ "rM", "%=" },
	{ "aN", "&=" },
	{ "oR", "|=" },
	{ "eO", "^=" },
	{ "ls", "<<" },
	{ "rs", ">>" },
	{ "lS", "<<=" },
	{ "rS", ">>=" },
	{ "eq", "==" },
	{ "ne", "!=" },
	{ "lt", "<" },
	{ "gt", ">" },
	{ "le", "<=" },
	{ "ge", ">=" },
	{ "ss", "<=>" },
	{ "nt", "!" },
	{ "aa", "&&" },
	{ "oo", "||" },
	{ "pp", "++" },
	{ "mm", "--" },
	{ "cm", "," },
	{ "pm", "->*" },
	{ "pt", "->" },
	{ "cl", "()" },
	{ "ix", "[]" },
	{ "qu", "?" },
};

/* S and one letter */
static const struct {
	char code;
	const char *text;
} standard[] = {
	{ 't', "std" },
	{ 'a', "std::allocator" },
	{ 'b', "std::basic_string" },
	{ 's', "std::string" },
	{ 'i', "std::istream" },
	{ 'o', "std::ostream" },
	{ 'd', "std::iostream" },
};

/* Types of one letter; the others begin with D. */
static const char *const builtins[26] = {
	['v' - 'a'] = "void",
	['w' - 'a'] = "wchar_t",
	['b' - 'a'] = "bool",
	['c' - 'a'] = "char",
	['a' - 'a'] = "signed char",
	['h' - 'a'] = "unsigned char",
	['s' - 'a'] = "short",
	['t' - 'a'] = "unsigned short",
	['i' - 'a'] = "int",
	['j' - 'a'] = "unsigned int",
	['l' - 'a'] = "long",
	['m' - 'a'] = "unsigned long",
	['x' - 'a'] = "long long",
	['y' - 'a'] = "unsigned long long",
	['n' - 'a'] = "__int128",
	['o' - 'a'] = "unsigned __int128",
	['f' - 'a'] = "float",
	['d' - 'a'] = "double",
	['e' - 'a'] = "long double",
	['g' - 'a'] = "__float128",
	['z' - 'a'] = "...",
};
static const struct {
	char code[5];
	const char *text;
} d_types[] = {
	{ "Dn", "decltype(nullptr)" },
	{ "Di", "char32_t" },
	{ "Ds", "char16_t" },
	{ "Du", "char8_t" },
	{ "Dh", "half" },
	{ "Da", "auto" },
	{ "Dc", "decltype(auto)" },
	{ "DF16b", "std::bfloat16_t" },
	{ "DF16_", "_Float16" },
	{ "Df", "decimal32" },
	{ "Dd", "decimal64" },
	{ "De", "decimal128" },
};
#endif
