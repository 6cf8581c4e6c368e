/* Prints wrappers.c at build time: a line for each function of the driver API, and the fields of
 * its arguments. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include "formats/cuda/cuda_api.h"

/* C types of the kinds of parameters (cuda_api.h). All other kinds are pointers. */
static const struct {
	const char *kinds, *type;
	char word;
} types[] = {
	{ "i", "int32_t", 'N' },
	{ "u", "uint32_t", 'N' },
	{ "w", "uint16_t", 'N' },
	{ "b", "uint8_t", 'N' },
	{ "f", "float", 'F' },
	{ "lzaVEQBCDP", "uint64_t", 'N' },
	{ "X", "struct gt_64", 'S' },
	{ "", "void *", 'P' },
};
#define TYPES (sizeof(types) / sizeof(*types))

/* Hooks of single functions, after and before the call, where no role says it. */
static const struct {
	const char *name, *after, *before;
} specials[] = {
	{ "cuGetProcAddress", "gt_after_get_proc", NULL },
	{ "cuGetProcAddress_v2", "gt_after_get_proc", NULL },
	{ "cuModuleGetFunction", "gt_after_get_function", NULL },
	{ "cuLibraryGetKernel", "gt_after_get_kernel", NULL },
	{ "cuKernelGetFunction", "gt_after_kernel_function", NULL },
	{ "cuLibraryEnumerateKernels", "gt_after_kernels", NULL },
	{ "cuInit", "gt_after_init", NULL },
	{ "cuProfilerStart", "gt_after_profiler_start", NULL },
	{ "cuProfilerStop", "gt_after_profiler_stop", NULL },
#define CONTEXT_END "gt_after_context_end", "gt_before_context_end"
	{ "cuCtxDestroy", CONTEXT_END },
	{ "cuCtxDestroy_v2", CONTEXT_END },
	{ "cuCtxDetach", CONTEXT_END },
#define DEVICE_END "gt_after_device_end", "gt_before_device_end"
	{ "cuDevicePrimaryCtxRelease", DEVICE_END },
	{ "cuDevicePrimaryCtxRelease_v2", DEVICE_END },
	{ "cuDevicePrimaryCtxReset", DEVICE_END },
	{ "cuDevicePrimaryCtxReset_v2", DEVICE_END },
	{ "cuGreenCtxDestroy", DEVICE_END },
};

static unsigned type_of(char kind)
{
	unsigned i = 0;

	while (i < TYPES - 1 && !strchr(types[i].kinds, kind))
		i++;
	return i;
}

static const char *after(const struct gt_api *api)
{
	static const char *const by_role[] = {
		[GT_API_CAPTURE_BEGIN] = "gt_after_begin_capture",
		[GT_API_CAPTURE_END] = "gt_after_end_capture",
		[GT_API_GRAPH_NODE] = "gt_after_node",
		[GT_API_GRAPH_CLONE] = "gt_after_clone",
		[GT_API_GRAPH_INSTANCE] = "gt_after_instantiate",
	};

	for (size_t i = 0; i < sizeof(specials) / sizeof(*specials); i++)
		if (!strcmp(specials[i].name, api->name))
			return specials[i].after;
	return api->role < sizeof(by_role) / sizeof(*by_role) ? by_role[api->role] : NULL;
}

static const char *before(const struct gt_api *api)
{
	for (size_t i = 0; i < sizeof(specials) / sizeof(*specials); i++)
		if (!strcmp(specials[i].name, api->name))
			return specials[i].before;
	return api->role == GT_API_CAPTURE_BEGIN ? "gt_before_begin_capture" : NULL;
}

/* The least mode in which this function has arguments to record: "GT_ARGS_KEY", ..., or a mode
 * that does not exist. */
static const char *least_mode(const struct gt_api *api)
{
	struct gt_api_field f[GT_FIELDS_MAX];
	unsigned n = gt_api_fields(api, f), i;

	for (i = 0; i < n && !f[i].key; i++)
		;
	return i < n ? "GT_ARGS_KEY" : n ? "GT_ARGS_ALL" : "GT_ARGS_ALL + 1";
}

/* True: it may share the body in guest_fast_path.c. */
static bool plain(const struct gt_api *api)
{
	struct gt_api_field f[GT_FIELDS_MAX];
	unsigned n = 0;

	for (unsigned i = gt_api_fields(api, f); i-- > 0;)
		if (f[i].key)
			return false;
	for (const char *p = api->params; *p; n++, p += strcspn(p, " "), p += *p == ' ')
		if (strchr("FS", types[type_of(*p)].word))
			return false;
	return n <= 6 && !after(api);
}

/* Builds the list of the words of its key arguments if all are parameter values: "(N(a1),
 * N(a4))"; func as in struct gt_keyed_call. False: some must be fetched, or there are none. */
static bool key_words(const struct gt_api *api, const char words[][24], char *list, int *func)
{
	struct gt_api_field f[GT_FIELDS_MAX];
	unsigned n = gt_api_fields(api, f), used = 0;

	*func = 255;
	strcpy(list, "(");
	for (unsigned i = 0; i < n; i++) {
		if (!f[i].key)
			continue;
		if (f[i].how != GT_FROM_WORD && f[i].how != GT_FROM_I32)
			return false;
		if (f[i].role == GT_R_FUNC)
			*func = (int)used;
		sprintf(list + strlen(list), f[i].how == GT_FROM_I32 ? "%sI(%s)" : "%s%s",
			used++ ? ", " : "", words[f[i].param]);
	}
	strcat(list, ")");
	return used && !after(api);
}

static void print_wrapper(uint32_t id)
{
	const struct gt_api *api = &gt_api[id];
	const char *then = after(api), *first = before(api),
		   *work = gt_api_makes_work(api->op) ? "_WORK" : "";
	char params[2048] = "", args[512] = "", words[64][24], list[1024], all[1024] = "";
	unsigned n = 0;
	int func;

	for (const char *p = api->params; *p; n++, p += strcspn(p, " "), p += *p == ' ') {
		unsigned type = type_of(*p);

		sprintf(params + strlen(params), "%s%s a%u", n ? ", " : "", types[type].type, n);
		sprintf(args + strlen(args), "%sa%u", n ? ", " : "", n);
		sprintf(words[n], "%c(a%u)", types[type].word, n);
		sprintf(all + strlen(all), ", %s", words[n]);
	}
	if (key_words(api, words, list, &func))
		printf("KEYED%s(%u, %s, %s, %d, %s, (%s), (%s)%s)\n", work, id, api->name,
			least_mode(api), func, list, params, args, all);
	else if (then)
		printf("WRAP_%s(%u, %s, %s, (%s), (%s)%s%s, %s%s)\n", first ? "AROUND" : "THEN", id,
			api->name, least_mode(api), n ? params : "void", args, first ? ", " : "",
			first ? first : "", then, n ? all : ", 0");
	else
		printf("%s%s(%u, %s, %s, (%s), (%s)%s)\n", plain(api) ? "PLAIN" : "WRAP",
			plain(api) ? "" : work, id, api->name, least_mode(api), n ? params : "void",
			args, n ? all : ", 0");
}

static void print_args(void)
{
	struct gt_api_field f[GT_FIELDS_MAX];
	unsigned total = 0;

	printf("\nconst struct gt_arg gt_args[] = {\n");
	for (uint32_t id = 0; id < gt_api_count; id++)
		for (unsigned i = 0, n = gt_api_fields(&gt_api[id], f); i < n; i++)
			printf("\t{ %u, %u, %u, %u, %u },%s", f[i].param, f[i].how, f[i].role,
				f[i].key, f[i].at, i + 1 < n ? "" : "\n");
	printf("};\nconst uint16_t gt_args_first[] = {");
	for (uint32_t id = 0; id <= gt_api_count; id++) {
		printf("%s%u,", id % 16 ? " " : "\n\t", total);
		if (id < gt_api_count)
			total += gt_api_fields(&gt_api[id], f);
	}
	printf("\n};\n");
}

int main(void)
{
	printf("/* Made by gen_wrappers from formats/cuda/cuda_api.def. */\n#include \"collect/guest/core/guest_wrap.h\"\n\n");
	for (uint32_t id = 0; id < gt_api_count; id++)
		print_wrapper(id);
	printf("\nvoid *const gt_wrapper[] = {\n");
	for (uint32_t id = 0; id < gt_api_count; id++)
		printf("\t(void *)%s,\n", gt_api[id].name);
	printf("};\nvoid *const gt_typed[] = {\n");
	for (uint32_t id = 0; id < gt_api_count; id++)
		printf("\t(void *)%s%s,\n", gt_api[id].name, plain(&gt_api[id]) ? "_typed" : "");
	printf("};\ngt_after *const gt_after_by_id[] = {\n");
	for (uint32_t id = 0; id < gt_api_count; id++)
		printf("\t%s,\n", after(&gt_api[id]) ? after(&gt_api[id]) : "0");
	printf("\n};\n");
	print_args();
	return ferror(stdout) || fflush(stdout);
}
