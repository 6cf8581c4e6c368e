/* Kernels whose occupancy has different limits, and the occupancy that the CUDA runtime computes for each, for
 * first_page.sh. One line for each launch: name, block size, dynamic shared memory, occupancy in percent. TAG makes a
 * kernel of each launch, because reports have one row for a kernel. */
#include <cstdio>

template <int TAG> __global__ void __launch_bounds__(1024) plain(float *a) { a[threadIdx.x] += 1; }
template <int TAG> __global__ void __launch_bounds__(64) small_blocks(float *a) { a[threadIdx.x] += 1; }
template <int TAG> __global__ void dynamic_shared(float *a)
{
	extern __shared__ float s[];

	s[threadIdx.x] = a[threadIdx.x];
	__syncthreads();
	a[threadIdx.x] = s[threadIdx.x ^ 1];
}
template <int TAG> __global__ void static_shared(float *a)
{
	__shared__ float s[10000];

	s[threadIdx.x] = a[threadIdx.x];
	__syncthreads();
	a[threadIdx.x] = s[threadIdx.x ^ 1];
}
/* keeps many values alive */
template <int N, int TAG> __global__ void __launch_bounds__(256) registers(float *a)
{
	float v[N];

#pragma unroll
	for (int i = 0; i < N; i++)
		v[i] = a[i * 256 + threadIdx.x];
#pragma unroll
	for (int k = 0; k < 3; k++)
#pragma unroll
		for (int i = 0; i < N; i++)
			v[i] = v[i] * v[(i * 7 + k) % N] + 1;
#pragma unroll
	for (int i = 0; i < N; i++)
		a[i * 256 + threadIdx.x] = v[i];
}

template <class F> static void run(const char *name, F *kernel, int block, size_t dynamic, float *a)
{
	cudaDeviceProp p;
	int blocks = 0;

	cudaGetDeviceProperties(&p, 0);
	cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)dynamic);
	cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, block, dynamic);
	kernel<<<p.multiProcessorCount * 2, block, dynamic>>>(a);
	cudaDeviceSynchronize();
	/* resident warps, since a block has whole warps */
	printf("%s;%d;%zu;%.2f\n", name, block, dynamic,
		100.0 * blocks * ((block + 31) / 32) / (p.maxThreadsPerMultiProcessor / 32));
}

int main()
{
	float *a;

	cudaMalloc(&a, 64 << 20);
#define RUN(kernel, ...) run(#kernel, kernel, __VA_ARGS__, a)
	RUN((plain<0>), 1024, 0);
	RUN((plain<1>), 768, 0);
	RUN((plain<2>), 200, 0);
	RUN((plain<3>), 32, 0);
	RUN((small_blocks<0>), 64, 0);
	RUN((dynamic_shared<0>), 256, 1 << 10);
	RUN((dynamic_shared<1>), 256, 8 << 10);
	RUN((dynamic_shared<2>), 256, 20 << 10);
	RUN((dynamic_shared<3>), 256, 40 << 10);
	RUN((dynamic_shared<4>), 256, 90 << 10);
	RUN((dynamic_shared<5>), 256, 160 << 10);
	RUN((static_shared<0>), 128, 0);
	RUN((registers<16, 0>), 256, 0);
	RUN((registers<48, 0>), 256, 0);
	RUN((registers<100, 0>), 256, 0);
	RUN((registers<100, 1>), 96, 0);
	return 0;
}
