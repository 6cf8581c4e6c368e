// All ways in which a program of the CUDA runtime submits GPU work: three streams with copies and
// sets, two threads that launch into one stream and into their own (cudaStreamPerThread), and a
// graph. Calls and counts are the same in every run; the last line has them: "expect K kernels C
// copies S sets". streams [ROUNDS [MS [PAUSE]]]: a kernel of MS ms (default 0) keeps one stream
// busy while the others continue; after each round the program sleeps for PAUSE us.
//	nvcc -o streams tests/gpu/streams.cu		(cudart linked statically)
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <unistd.h>
#include <cuda_runtime.h>

#define OK(e) do { cudaError_t r = (e); if (r != cudaSuccess) { printf("%s: %s\n", #e, cudaGetErrorString(r)); exit(1); } } while (0)

static const int n = 1 << 14;

template <typename T, int N> __global__ void scale(T *x, T by)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	for (int k = 0; k < N; k++)
		x[i] = x[i] * by + (T)k;
}

__global__ void busy(unsigned long long ns)
{
	unsigned long long from, to;

	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(from));
	do
		asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(to));
	while (to - from < ns);
}

static void threads_launch(float *d, cudaStream_t shared)
{
	auto body = [=] {
		for (int i = 0; i < 200; i++) {
			scale<float, 1><<<n / 256, 256, 0, shared>>>(d, 1.5f);
			scale<float, 2><<<n / 128, 128, 0, cudaStreamPerThread>>>(d, 0.5f);
		}
		OK(cudaStreamSynchronize(cudaStreamPerThread));
	};
	std::thread a(body), b(body);

	a.join();
	b.join();
}

static void replay_graph(float *d, float *h, cudaStream_t s)
{
	cudaGraph_t graph;
	cudaGraphExec_t exec;

	OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
	OK(cudaMemcpyAsync(d, h, n * sizeof(float), cudaMemcpyHostToDevice, s));
	OK(cudaMemsetAsync(d, 0, n * sizeof(float), s));
	for (int i = 0; i < 10; i++)
		scale<float, 3><<<n / 256, 256, 0, s>>>(d, 1.5f);
	OK(cudaStreamEndCapture(s, &graph));
	OK(cudaGraphInstantiate(&exec, graph, 0));
	for (int i = 0; i < 50; i++)
		OK(cudaGraphLaunch(exec, s));
	OK(cudaStreamSynchronize(s));
}

int main(int argc, char **argv)
{
	const int rounds = argc > 1 ? atoi(argv[1]) : 200, ms = argc > 2 ? atoi(argv[2]) : 0, pause = argc > 3 ? atoi(argv[3]) : 0;
	float *d[3], *h;
	cudaStream_t s[3], held;

	OK(cudaMallocHost(&h, n * sizeof(float)));
	OK(cudaStreamCreateWithFlags(&held, cudaStreamNonBlocking));
	for (int k = 0; k < 3; k++) {
		OK(cudaMalloc(&d[k], n * sizeof(float)));
		OK(cudaStreamCreateWithFlags(&s[k], cudaStreamNonBlocking));
	}
	if (ms)
		busy<<<1, 1, 0, held>>>(ms * 1000000ull);
	for (int i = 0; i < rounds; i++) {
		for (int k = 0; k < 3; k++) {
			OK(cudaMemcpyAsync(d[k], h, n * sizeof(float), cudaMemcpyHostToDevice, s[k]));
			scale<float, 3><<<n / 256, 256, 0, s[k]>>>(d[k], 1.5f);
			OK(cudaMemsetAsync(d[k], 0, n * sizeof(float), s[k]));
			scale<double, 7><<<n / 512, 256, 0, s[k]>>>((double *)d[k], 0.5);
			OK(cudaMemcpyAsync(h, d[k], n * sizeof(float), cudaMemcpyDeviceToHost, s[k]));
		}
		if (i % 20 == 19)
			for (int k = 0; k < 3; k++)
				OK(cudaStreamSynchronize(s[k]));
		if (pause)
			usleep(pause);
	}
	threads_launch(d[0], s[0]);
	replay_graph(d[1], h, s[1]);
	OK(cudaDeviceSynchronize());
	printf("expect %d kernels %d copies %d sets\n", 6 * rounds + 800 + 500 + !!ms, 6 * rounds + 50, 3 * rounds + 50);
	return 0;
}
