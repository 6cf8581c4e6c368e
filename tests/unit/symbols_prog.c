/* A program whose stacks tests/cli/analyze/symbols.sh names: a wait in inlined functions. */
#include <unistd.h>

typedef int CUresult;
typedef void *CUcontext;
CUresult cuInit(unsigned flags);
CUresult cuDevicePrimaryCtxRetain(CUcontext *context, int device);
CUresult cuCtxSetCurrent(CUcontext context);
CUresult cuStreamSynchronize(void *stream);
int outer(void);

static volatile int n;

static inline __attribute__((always_inline)) int inner(void)
{
	cuStreamSynchronize(0); /* line 16 */
	return ++n;
}

static inline __attribute__((always_inline)) int middle(void)
{
	n++;
	inner(); /* line 23 */
	return ++n;
}

__attribute__((noinline)) int outer(void)
{
	middle(); /* line 29 */
	return ++n;
}

int main(void)
{
	CUcontext c;

	cuInit(0);
	cuDevicePrimaryCtxRetain(&c, 0);
	cuCtxSetCurrent(c);
	for (int i = 0; i < 1000; i++) {
		outer(); /* line 41 */
		if (i % 20 == 0)
			usleep(1000); /* meanwhile the library makes the rules to unwind by */
	}
	return 0;
}
