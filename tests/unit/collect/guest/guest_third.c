/* Libraries that call dlsym and dlopen, whose result depends on the calling library. WHICH 3:
 * calls; 4: is loaded after it; 5: is found only by the RUNPATH of 3. */
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
