/* The codes of the Itanium mangling: for demangle.c only. */
#ifndef GT_DEMANGLE_WORDS_H
#define GT_DEMANGLE_WORDS_H

static const struct {
	char code[3];
	const char *text;
	int operands; /* in expressions; 0: not there, or read by other code */
} operators[] = {
	{ "nw", " new", 0 },
	{ "na", " new[]", 0 },
	{ "dl", " delete", 0 },
	{ "da", " delete[]", 0 },
	{ "aw", " co_await", 1 },
	{ "ps", "+", 1 },
	{ "ng", "-", 1 },
	{ "ad", "&", 1 },
	{ "de", "*", 1 },
	{ "co", "~", 1 },
	{ "pl", "+", 2 },
	{ "mi", "-", 2 },
	{ "ml", "*", 2 },
	{ "dv", "/", 2 },
	{ "rm", "%", 2 },
	{ "an", "&", 2 },
	{ "or", "|", 2 },
	{ "eo", "^", 2 },
	{ "aS", "=", 2 },
	{ "pL", "+=", 2 },
	{ "mI", "-=", 2 },
	{ "mL", "*=", 2 },
	{ "dV", "/=", 2 },
	{ "rM", "%=", 2 },
	{ "aN", "&=", 2 },
	{ "oR", "|=", 2 },
	{ "eO", "^=", 2 },
	{ "ls", "<<", 2 },
	{ "rs", ">>", 2 },
	{ "lS", "<<=", 2 },
	{ "rS", ">>=", 2 },
	{ "eq", "==", 2 },
	{ "ne", "!=", 2 },
	{ "lt", "<", 2 },
	{ "gt", ">", 2 },
	{ "le", "<=", 2 },
	{ "ge", ">=", 2 },
	{ "ss", "<=>", 2 },
	{ "nt", "!", 1 },
	{ "aa", "&&", 2 },
	{ "oo", "||", 2 },
	{ "pp", "++", 1 },
	{ "mm", "--", 1 },
	{ "cm", ",", 2 },
	{ "pm", "->*", 2 },
	{ "pt", "->", 0 },
	{ "cl", "()", 0 },
	{ "ix", "[]", 2 },
	{ "qu", "?", 0 },
};

static const struct {
	char code[3];
	const char *text;
} casts[] = {
	{ "cc", "const_cast" },
	{ "dc", "dynamic_cast" },
	{ "rc", "reinterpret_cast" },
	{ "sc", "static_cast" },
};

/* The text in front of a special name. offsets: 'h' or 'v', or '?' if a letter in the name says
 * which. */
static const struct special {
	char code[4], offsets[3];
	enum { SPECIAL_TYPE, SPECIAL_FUNCTION, SPECIAL_NAME, SPECIAL_TABLE } of;
	const char *text;
} specials[] = {
	{ "TV", "", SPECIAL_TYPE, "vtable for " },
	{ "TC", "", SPECIAL_TABLE, "construction vtable for " }, /* of a base, then in what */
	{ "TT", "", SPECIAL_TYPE, "VTT for " },
	{ "TI", "", SPECIAL_TYPE, "typeinfo for " },
	{ "TS", "", SPECIAL_TYPE, "typeinfo name for " },
	{ "Th", "h", SPECIAL_FUNCTION, "non-virtual thunk to " },
	{ "Tv", "v", SPECIAL_FUNCTION, "virtual thunk to " },
	{ "Tc", "??", SPECIAL_FUNCTION, "covariant return thunk to " },
	{ "TH", "", SPECIAL_NAME, "TLS init function for " },
	{ "TW", "", SPECIAL_NAME, "TLS wrapper function for " },
	{ "GV", "", SPECIAL_NAME, "guard variable for " },
	{ "GTt", "", SPECIAL_FUNCTION, "transaction clone for " },
	{ "GTn", "", SPECIAL_FUNCTION, "non-transaction clone for " },
};

/* S and one letter. full: in front of the name of a constructor or destructor */
static const struct {
	char code;
	const char *text, *full;
} standard[] = {
	{ 't', "std", NULL },
	{ 'a', "std::allocator", NULL },
	{ 'b', "std::basic_string", NULL },
	{ 's', "std::string",
		"std::basic_string<char, std::char_traits<char>, std::allocator<char> >" },
	{ 'i', "std::istream", "std::basic_istream<char, std::char_traits<char> >" },
	{ 'o', "std::ostream", "std::basic_ostream<char, std::char_traits<char> >" },
	{ 'd', "std::iostream", "std::basic_iostream<char, std::char_traits<char> >" },
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
