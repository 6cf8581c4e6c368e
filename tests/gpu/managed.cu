// Managed memory that the host and the device use in turn: page faults on both sides, and
// migrations in both directions.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <dlfcn.h>

#define OK(e) do { cudaError_t r = (e); if (r != cudaSuccess) { printf("%s: %s\n", #e, cudaGetErrorString(r)); return 1; } } while (0)

__global__ void add(float *x, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		x[i] += 1;
}

int main()
{
	const int n = 4 << 20, rounds = 10;
	const char *client = getenv("CUDA_INJECTION64_PATH");
	void *lib, (*again)();
	float *x;

	OK(cudaFree(0));
	// CUPTI takes the configuration of these counters only when the driver is initialized
	if (client && (lib = dlopen(client, RTLD_NOW | RTLD_NOLOAD)) && (*(void **)&again = dlsym(lib, "cupti_client_again")))
		again();
	OK(cudaMallocManaged(&x, n * sizeof(float)));
	for (int i = 0; i < n; i++)
		x[i] = 0;
	for (int k = 0; k < rounds; k++) {
		add<<<(n + 255) / 256, 256>>>(x, n);
		OK(cudaDeviceSynchronize());
		for (int i = 0; i < n; i += 1024)
			x[i] += 1;
	}
	printf("%s\n", x[0] == 2 * rounds ? "done" : "wrong");
	return x[0] != 2 * rounds;
}
