/* Modules, libraries, functions.
 *
 * From an image of PTX text the simulator reads `.entry NAME(` with its `.param` sizes, and
 * `.global` variables. It cannot know the kernels of any other image (a cubin, a fat binary): it
 * accepts every name. A library is a module without a context; a kernel and its function are one
 * object. */
#include "samples/simgpu/sim.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_IMAGE (256u << 20)

static struct sim_module *libraries;

/* Reading PTX. */
static const char *skip_space(const char *p)
{
	while (isspace((unsigned char)*p))
		p++;
	return p;
}

static size_t word_length(const char *p)
{
	return strspn(p, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$");
}

/* Size in bytes of a PTX type, as in ".u64" or ".b8"; 0 if it is not a type. */
static unsigned type_size(const char *p)
{
	unsigned bits = *p == '.' && p[1] && strchr("ubsf", p[1]) ? strtoul(p + 2, NULL, 10) : 0;

	return bits == 8 || bits == 16 || bits == 32 || bits == 64 ? bits / 8 : 0;
}

/* A variable after ".param" or ".global": alignment, type, name, and elements in brackets. Returns
 * the end of the text it has read. */
static const char *parse_variable(
	const char *p, const char **name, size_t *len, uint32_t *size, uint32_t *align)
{
	unsigned element = 0;

	*align = 0;
	for (p = skip_space(p); *p == '.'; p = skip_space(p)) {
		if (!strncmp(p, ".align", 6))
			*align = strtoul(p + 6, (char **)&p, 10);
		else if (type_size(p))
			element = type_size(p), p += 1 + word_length(p + 1);
		else
			p += 1 + word_length(p + 1);
	}
	*name = p;
	*len = word_length(p);
	p += *len;
	*size = element;
	if (*p == '[')
		*size = element * strtoul(p + 1, NULL, 10);
	if (!*align)
		*align = element ? element : 1;
	return p;
}

static struct sim_function *add_function(struct sim_module *m, const char *name, size_t len)
{
	struct sim_function *f = sim_new(SIM_FUNCTION, sizeof(*f)), **end = &m->functions;

	if (!f || !(f->name = strndup(name, len))) {
		if (f)
			sim_drop(f);
		return NULL;
	}
	f->module = m;
	f->max_dynamic = 49152;
	while (*end)
		end = &(*end)->next;
	*end = f;
	m->functions_n++;
	return f;
}

static int add_param(struct sim_function *f, uint32_t size, uint32_t align)
{
	struct sim_param *v = realloc(f->params, (f->params_n + 1) * sizeof(*v));

	if (!v || !size || align & (align - 1) || size > 4096)
		return CUDA_ERROR_INVALID_PTX;
	f->params = v;
	f->params_size = (f->params_size + align - 1) & ~(align - 1);
	v[f->params_n++] = (struct sim_param){ f->params_size, size };
	f->params_size += size;
	return f->params_size <= 32764 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_PTX;
}

/* ".entry NAME ( .param .u64 a, .param .u32 b )": p points after ".entry". */
static int read_entry(struct sim_module *m, const char *p)
{
	const char *name = skip_space(p), *ignored;
	size_t len = word_length(name);
	struct sim_function *f = len ? add_function(m, name, len) : NULL;
	uint32_t size, align;
	int rc = f ? CUDA_SUCCESS : CUDA_ERROR_INVALID_PTX;

	p = skip_space(name + len);
	while (!rc && *p && *p != ')' && *p != '{') {
		if (strncmp(p, ".param", 6)) {
			p++;
			continue;
		}
		p = parse_variable(p + 6, &ignored, &len, &size, &align);
		rc = add_param(f, size, align);
	}
	return rc;
}

static int read_global(struct sim_ctx *ctx, struct sim_module *m, const char *p)
{
	struct sim_global *g = calloc(1, sizeof(*g));
	struct sim_range *r = NULL;
	const char *name;
	uint32_t size, align;
	size_t len;
	int rc;

	parse_variable(p, &name, &len, &size, &align);
	if (!g || !len || !size || !(g->name = strndup(name, len))) {
		free(g);
		return CUDA_ERROR_INVALID_PTX;
	}
	g->size = size;
	g->next = m->globals;
	m->globals = g;
	rc = sim_alloc(ctx, size, SIM_DEVICE, &r);
	if (!rc) {
		g->at = r->addr;
		memset(r->host, 0, size);
	}
	return rc;
}

static int read_ptx(struct sim_ctx *ctx, struct sim_module *m, const char *text)
{
	int depth = 0, rc = CUDA_SUCCESS;

	for (const char *p = text; *p && !rc; p++) {
		if (p[0] == '/' && p[1] == '/')
			p += strcspn(p, "\n") - 1;
		else if (*p == '{')
			depth++;
		else if (*p == '}')
			depth--;
		else if (!depth && !strncmp(p, ".entry", 6) && isspace((unsigned char)p[6]))
			rc = read_entry(m, p + 6);
		else if (!depth && !strncmp(p, ".global", 7) && isspace((unsigned char)p[7]))
			rc = read_global(ctx, m, p + 7);
	}
	return depth ? CUDA_ERROR_INVALID_PTX : rc;
}

/* Text with a PTX version is PTX; other text is not an image. */
static bool is_text(const char *image)
{
	for (int i = 0; i < 16 && image[i]; i++)
		if (!isprint((unsigned char)image[i]) && !isspace((unsigned char)image[i]))
			return false;
	return true;
}

static struct sim_module **list_of(const struct sim_module *m)
{
	return m->ctx ? &m->ctx->modules : &libraries;
}

void sim_module_free(struct sim_module *m)
{
	struct sim_module **p = list_of(m);
	struct sim_function *f;
	struct sim_global *g;
	struct sim_range *r;

	while (*p != m)
		p = &(*p)->next;
	*p = m->next;
	while ((f = m->functions)) {
		m->functions = f->next;
		free(f->name);
		free(f->params);
		sim_drop(f);
	}
	while ((g = m->globals)) {
		m->globals = g->next;
		if (g->at && (r = sim_range_at(g->at)))
			sim_range_end(r);
		free(g->name);
		free(g);
	}
	sim_drop(m);
}

static int load(struct sim_ctx *ctx, bool library, const void *image, struct sim_module **out)
{
	struct sim_module *m;
	int rc = CUDA_SUCCESS;

	if (!out || !image)
		return CUDA_ERROR_INVALID_VALUE;
	if (!(m = sim_new(SIM_MODULE, sizeof(*m))))
		return CUDA_ERROR_OUT_OF_MEMORY;
	m->ctx = library ? NULL : ctx;
	m->next = *list_of(m);
	*list_of(m) = m;
	m->any_name = !is_text(image);
	if (!m->any_name)
		rc = strstr(image, ".version") ? read_ptx(ctx, m, image) : CUDA_ERROR_INVALID_IMAGE;
	if (rc)
		sim_module_free(m);
	else
		*out = m;
	return rc;
}

/* Reads a file and appends a zero byte; NULL if it cannot be read. */
static char *read_file(const char *path)
{
	FILE *f = path ? fopen(path, "rb") : NULL;
	long size = f && !fseek(f, 0, SEEK_END) ? ftell(f) : -1;
	char *text = size > 0 && size <= MAX_IMAGE ? calloc(1, size + 1) : NULL;

	if (text && (fseek(f, 0, SEEK_SET) || fread(text, 1, size, f) != (size_t)size)) {
		free(text);
		text = NULL;
	}
	if (f)
		fclose(f);
	return text;
}

static int load_file(bool library, const char *path, struct sim_module **out)
{
	char *image = read_file(path);
	struct sim_ctx *ctx;
	int rc = image ? sim_enter(&ctx) : CUDA_ERROR_FILE_NOT_FOUND;

	if (!rc)
		sim_leave(rc = load(ctx, library, image, out));
	free(image);
	return rc;
}

CUresult cuModuleLoad(CUmodule *out, const char *path) { return load_file(false, path, out); }

CUresult cuModuleLoadData(CUmodule *out, const void *image)
{
	ENTER(ctx);

	return sim_leave(load(ctx, false, image, out));
}

CUresult cuModuleLoadDataEx(
	CUmodule *out, const void *image, unsigned n, int *options, void **values)
{
	return n && (!options || !values) ? CUDA_ERROR_INVALID_VALUE : cuModuleLoadData(out, image);
}

CUresult cuModuleLoadFatBinary(CUmodule *out, const void *image)
{
	return cuModuleLoadData(out, image);
}

static int unload_module(struct sim_module *m, bool library)
{
	ENTER(ctx);

	if (!sim_is(m, SIM_MODULE) || !m->ctx != library)
		return sim_leave(CUDA_ERROR_INVALID_HANDLE);
	sim_wait_ctx(ctx);
	sim_module_free(m);
	return sim_leave(CUDA_SUCCESS);
}

CUresult cuModuleUnload(CUmodule m) { return unload_module(m, false); }

static int get_function(struct sim_module *m, const char *name, struct sim_function **out)
{
	struct sim_function *f;

	if (!out || !name)
		return CUDA_ERROR_INVALID_VALUE;
	if (!sim_is(m, SIM_MODULE))
		return CUDA_ERROR_INVALID_HANDLE;
	for (f = m->functions; f && strcmp(f->name, name); f = f->next)
		;
	if (!f && m->any_name && *name)
		f = add_function(m, name, strlen(name));
	*out = f;
	return f ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult cuModuleGetFunction(CUfunction *out, CUmodule m, const char *name)
{
	ENTER(ctx);

	return sim_leave(get_function(m, name, out));
}

static int get_global(CUdeviceptr *at, size_t *size, struct sim_module *m, const char *name)
{
	struct sim_global *g;
	ENTER(ctx);

	if (!name || !sim_is(m, SIM_MODULE))
		return sim_leave(name ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_INVALID_VALUE);
	for (g = m->globals; g && strcmp(g->name, name); g = g->next)
		;
	if (g && at)
		*at = g->at;
	if (g && size)
		*size = g->size;
	return sim_leave(g ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND);
}

CUresult cuModuleGetGlobal_v2(CUdeviceptr *at, size_t *size, CUmodule m, const char *name)
{
	return get_global(at, size, m, name);
}

static int count_functions(unsigned *n, const struct sim_module *m)
{
	if (!n || !sim_is(m, SIM_MODULE))
		return n ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_INVALID_VALUE;
	*n = m->functions_n;
	return CUDA_SUCCESS;
}

static int list_functions(struct sim_function **out, unsigned n, const struct sim_module *m)
{
	if (!out || !sim_is(m, SIM_MODULE))
		return out ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_INVALID_VALUE;
	for (struct sim_function *f = m->functions; f && n; f = f->next, n--)
		*out++ = f;
	return CUDA_SUCCESS;
}

CUresult cuModuleGetFunctionCount(unsigned *n, CUmodule m) { return count_functions(n, m); }

CUresult cuModuleEnumerateFunctions(CUfunction *out, unsigned n, CUmodule m)
{
	return list_functions(out, n, m);
}

CUresult cuModuleGetLoadingMode(int *mode)
{
	if (!mode)
		return CUDA_ERROR_INVALID_VALUE;
	*mode = 2; /* lazy */
	return CUDA_SUCCESS;
}

/* Libraries. */
CUresult cuLibraryLoadData(CUlibrary *out, const void *code, int *jit, void **jit_values,
	unsigned jit_n, int *options, void **values, unsigned n)
{
	(void)jit, (void)jit_values, (void)jit_n, (void)options, (void)values, (void)n;
	ENTER(ctx);

	return sim_leave(load(ctx, true, code, out));
}

CUresult cuLibraryLoadFromFile(CUlibrary *out, const char *path, int *jit, void **jit_values,
	unsigned jit_n, int *options, void **values, unsigned n)
{
	(void)jit, (void)jit_values, (void)jit_n, (void)options, (void)values, (void)n;
	return load_file(true, path, out);
}

CUresult cuLibraryUnload(CUlibrary m) { return unload_module(m, true); }

CUresult cuLibraryGetKernel(CUkernel *out, CUlibrary m, const char *name)
{
	ENTER(ctx);

	return sim_leave(get_function(m, name, out));
}

CUresult cuLibraryGetModule(CUmodule *out, CUlibrary m)
{
	if (!out || !sim_is(m, SIM_MODULE))
		return out ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_INVALID_VALUE;
	*out = m;
	return CUDA_SUCCESS;
}

CUresult cuLibraryGetGlobal(CUdeviceptr *at, size_t *size, CUlibrary m, const char *name)
{
	return get_global(at, size, m, name);
}

CUresult cuLibraryGetKernelCount(unsigned *n, CUlibrary m) { return count_functions(n, m); }

CUresult cuLibraryEnumerateKernels(CUkernel *out, unsigned n, CUlibrary m)
{
	return list_functions(out, n, m);
}

/* Functions and kernels. */
#define FUNCTION_OR_RETURN(out, f)                                                                 \
	do {                                                                                       \
		if (!(out))                                                                        \
			return CUDA_ERROR_INVALID_VALUE;                                           \
		if (!sim_is(f, SIM_FUNCTION))                                                      \
			return CUDA_ERROR_INVALID_HANDLE;                                          \
	} while (0)

CUresult cuKernelGetFunction(CUfunction *out, CUkernel k)
{
	FUNCTION_OR_RETURN(out, k);
	*out = k;
	return CUDA_SUCCESS;
}

CUresult cuKernelGetLibrary(CUlibrary *out, CUkernel k)
{
	FUNCTION_OR_RETURN(out, k);
	*out = k->module;
	return CUDA_SUCCESS;
}

CUresult cuKernelGetName(const char **name, CUkernel k)
{
	FUNCTION_OR_RETURN(name, k);
	*name = k->name;
	return CUDA_SUCCESS;
}

CUresult cuFuncGetName(const char **name, CUfunction f)
{
	FUNCTION_OR_RETURN(name, f);
	*name = f->name;
	return CUDA_SUCCESS;
}

CUresult cuFuncGetModule(CUmodule *out, CUfunction f)
{
	FUNCTION_OR_RETURN(out, f);
	*out = f->module;
	return CUDA_SUCCESS;
}

CUresult cuFuncGetParamInfo(CUfunction f, size_t i, size_t *offset, size_t *size)
{
	FUNCTION_OR_RETURN(offset, f);
	if (i >= f->params_n)
		return CUDA_ERROR_INVALID_VALUE;
	*offset = f->params[i].offset;
	if (size)
		*size = f->params[i].size;
	return CUDA_SUCCESS;
}

CUresult cuKernelGetParamInfo(CUkernel k, size_t i, size_t *offset, size_t *size)
{
	return cuFuncGetParamInfo(k, i, offset, size);
}

CUresult cuFuncIsLoaded(int *loaded, CUfunction f)
{
	FUNCTION_OR_RETURN(loaded, f);
	*loaded = 1;
	return CUDA_SUCCESS;
}

CUresult cuFuncLoad(CUfunction f)
{
	return sim_is(f, SIM_FUNCTION) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

/* In the order of CUfunction_attribute: threads, static shared, const, local, registers, PTX and
 * binary version, cache mode, dynamic shared, carve-out. */
CUresult cuFuncGetAttribute(int *value, int attribute, CUfunction f)
{
	static const int fixed[] = { 1024, 0, 0, 0, 16, 90, 90, 0, 0, 0, 0, 0, 0, 0, 0, 0 };

	FUNCTION_OR_RETURN(value, f);
	if (attribute < 0 || attribute >= (int)(sizeof(fixed) / sizeof(*fixed)))
		return CUDA_ERROR_INVALID_VALUE;
	*value = attribute == 8 ? f->max_dynamic : attribute == 9 ? f->carveout : fixed[attribute];
	return CUDA_SUCCESS;
}

CUresult cuFuncSetAttribute(CUfunction f, int attribute, int value)
{
	FUNCTION_OR_RETURN(f, f);
	if (attribute == 8 && value >= 0 && value <= 232448)
		f->max_dynamic = value;
	else if (attribute == 9 && value >= -1 && value <= 100)
		f->carveout = value;
	else
		return CUDA_ERROR_INVALID_VALUE;
	return CUDA_SUCCESS;
}

CUresult cuKernelGetAttribute(int *value, int attribute, CUkernel k, CUdevice dev)
{
	return dev < 0 || dev >= sim_config.devices ? CUDA_ERROR_INVALID_DEVICE
						    : cuFuncGetAttribute(value, attribute, k);
}

CUresult cuKernelSetAttribute(int attribute, int value, CUkernel k, CUdevice dev)
{
	return dev < 0 || dev >= sim_config.devices ? CUDA_ERROR_INVALID_DEVICE
						    : cuFuncSetAttribute(k, attribute, value);
}

CUresult cuFuncSetCacheConfig(CUfunction f, int config)
{
	if (!sim_is(f, SIM_FUNCTION))
		return CUDA_ERROR_INVALID_HANDLE;
	return config < 0 || config > 3 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuKernelSetCacheConfig(CUkernel k, int config, CUdevice dev)
{
	return dev < 0 || dev >= sim_config.devices ? CUDA_ERROR_INVALID_DEVICE
						    : cuFuncSetCacheConfig(k, config);
}
