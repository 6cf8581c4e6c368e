// The CUDA runtime, linked statically or as a shared library: streams, events, a graph, copies, a templated kernel.
#include <cstdio>
#include <cuda_runtime.h>

#define OK(e) do { cudaError_t r = (e); if (r != cudaSuccess) { printf("%s: %s\n", #e, cudaGetErrorString(r)); return 1; } } while (0)

template <typename T, int N> __global__ void scale(T *x, T by)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	for (int k = 0; k < N; k++)
		x[i] = x[i] * by + (T)k;
}

int main()
{
	const int n = 1 << 16;
	float *d, *h;
	cudaStream_t s;
	cudaEvent_t e;
	cudaGraph_t graph;
	cudaGraphExec_t exec;

	OK(cudaMallocHost(&h, n * sizeof(float)));
	OK(cudaMalloc(&d, n * sizeof(float)));
	OK(cudaStreamCreate(&s));
	OK(cudaEventCreate(&e));
	for (int i = 0; i < 100; i++) {
		OK(cudaMemcpyAsync(d, h, n * sizeof(float), cudaMemcpyHostToDevice, s));
		scale<float, 3><<<n / 256, 256, 0, s>>>(d, 1.5f);
		scale<float, 7><<<n / 256, 256, 0, s>>>(d, 0.5f);
		OK(cudaEventRecord(e, s));
		OK(cudaMemcpyAsync(h, d, n * sizeof(float), cudaMemcpyDeviceToHost, s));
		OK(cudaStreamSynchronize(s));
	}
	OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
	for (int i = 0; i < 10; i++)
		scale<float, 3><<<n / 256, 256, 0, s>>>(d, 1.5f);
	OK(cudaStreamEndCapture(s, &graph));
	OK(cudaGraphInstantiate(&exec, graph, 0));
	for (int i = 0; i < 50; i++)
		OK(cudaGraphLaunch(exec, s));
	OK(cudaStreamSynchronize(s));
	OK(cudaDeviceSynchronize());
	printf("done\n");
	return 0;
}
