/* A program whose stacks tests/cli/analyze/symbols.sh names: a wait in inlined functions. */
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
	cuStreamSynchronize(0); /* line 14 */
	return ++n;
}

static inline __attribute__((always_inline)) int middle(void)
{
	n++;
	inner(); /* line 21 */
	return ++n;
}

__attribute__((noinline)) int outer(void)
{
	middle(); /* line 27 */
	return ++n;
}

int main(void)
{
	CUcontext c;

	cuInit(0);
	cuDevicePrimaryCtxRetain(&c, 0);
	cuCtxSetCurrent(c);
	for (int i = 0; i < 1000; i++)
		outer(); /* line 39 */
	return 0;
}
