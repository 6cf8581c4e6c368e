/* Libraries for tests of native stacks, which the build puts into guest/fake. */
#ifndef GT_UNWIND_LIBRARIES_H
#define GT_UNWIND_LIBRARIES_H
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int gt_hosted_dlclose(void *handle);
typedef void callback(void *);

static inline const char *path_of(const char *name)
{
	static char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 100);
	char *slash;

	path[n > 0 ? n : 0] = 0;
	for (int i = 0; i < 2 && (slash = strrchr(path, '/')); i++)
		*slash = 0;
	return strcat(strcat(path, "/guest/fake/"), name);
}

static inline void *open_plugin(const char *name, void (**call)(callback *, void *))
{
	void *lib = dlopen(path_of(name), RTLD_NOW);

	*call = lib ? (void (*)(callback *, void *))dlsym(lib, "unwind_plugin") : NULL;
	return lib;
}

#endif
