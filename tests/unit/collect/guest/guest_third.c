/* Libraries that ask dlsym and dlopen in ways that depend on who asks. WHICH 3: asks; 4: stands behind it; 5: only 3's RUNPATH
 * leads to it. */
#define _GNU_SOURCE
#include <dlfcn.h>

int common_name(void) { return WHICH; }
#if WHICH == 3
int third_next(void)
{
	int (*next)(void) = (int (*)(void))dlsym(RTLD_NEXT, "common_name");

	return next ? next() : 0;
}
int third_dlopen(void)
{
	void *h = dlopen("libguestfifth.so", RTLD_NOW);
	int (*f)(void) = h ? (int (*)(void))dlsym(h, "common_name") : 0;

	return f ? f() : 0;
}
#endif
