/* Launches of graphs with conditional nodes. Each launch runs a different number of rounds, and the
 * program counts on the GPU what ran. Prints a line "launch I ops N" for each launch of a graph,
 * then the totals. Usage: graph_while MODE [LAUNCHES]
 *	only	only a while node; the program waits after each launch
 *	between	a kernel, a while node with an if node in its body, a kernel; no waits
 *	first	a while node, then a kernel; no waits
 *	stream	only a while node; a plain kernel follows each launch in the stream; no waits */
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OK(x) do { cudaError_t e_ = (x); if (e_ != cudaSuccess) { printf("%s: %s\n", #x, cudaGetErrorString(e_)); exit(1); } } while (0)

struct state { int launch, round, ops[1024]; };

__global__ void begin(struct state *s) { s->ops[s->launch]++; }
__global__ void work(struct state *s) { s->ops[s->launch]++; }
__global__ void in_if(struct state *s) { s->ops[s->launch]++; }
__global__ void choose(struct state *s, cudaGraphConditionalHandle inner)
{
	s->ops[s->launch]++;
	cudaGraphSetConditional(inner, s->round & 1);
}
/* The last kernel of a round. Launch I has I % 5 + 3 rounds. */
__global__ void decide(struct state *s, cudaGraphConditionalHandle loop, int ends_launch)
{
	s->ops[s->launch]++;
	if (++s->round < s->launch % 5 + 3)
		return;
	s->round = 0;
	s->launch += ends_launch;
	cudaGraphSetConditional(loop, 0);
}
__global__ void end(struct state *s) { s->ops[s->launch++]++; }
__global__ void plain(int *n) { ++*n; }

static cudaGraphNode_t add(cudaGraph_t g, const cudaGraphNode_t *after, void *f, void **args)
{
	cudaKernelNodeParams p = {};
	cudaGraphNode_t n;

	p.func = f;
	p.gridDim = p.blockDim = dim3(1);
	p.kernelParams = args;
	OK(cudaGraphAddKernelNode(&n, g, after, after != NULL, &p));
	return n;
}

static cudaGraphNode_t conditional(cudaGraph_t g, const cudaGraphNode_t *after, cudaGraphConditionalHandle h, cudaGraphConditionalNodeType type,
				   cudaGraph_t *body)
{
	cudaGraphNodeParams p = {};
	cudaGraphNode_t n;

	p.type = cudaGraphNodeTypeConditional;
	p.conditional.handle = h;
	p.conditional.type = type;
	p.conditional.size = 1;
	OK(cudaGraphAddNode(&n, g, after, NULL, after != NULL, &p));
	*body = p.conditional.phGraph_out[0];
	return n;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "only";
	int launches = argc > 2 ? atoi(argv[2]) : 40, all = 0, kernels, *n;
	bool between = !strcmp(mode, "between"), first = !strcmp(mode, "first"), stream = !strcmp(mode, "stream");
	int ends_launch = !between && !first;
	static struct state copy;
	struct state *s;
	cudaGraph_t g, body, inner;
	cudaGraphConditionalHandle loop, branch;
	cudaGraphNode_t last, node;
	cudaGraphExec_t exec;
	cudaStream_t in;

	OK(cudaMalloc(&s, sizeof(*s)));
	OK(cudaMalloc(&n, sizeof(*n)));
	OK(cudaMemset(s, 0, sizeof(*s)));
	OK(cudaStreamCreate(&in));
	OK(cudaGraphCreate(&g, 0));
	OK(cudaGraphConditionalHandleCreate(&loop, g, 1, cudaGraphCondAssignDefault));
	void *one[] = { &s }, *two[] = { &s, &loop, &ends_launch }, *pick[] = { &s, &branch }, *number[] = { &n };
	if (between)
		last = add(g, NULL, (void *)begin, one);
	node = conditional(g, between ? &last : NULL, loop, cudaGraphCondTypeWhile, &body);
	last = add(body, NULL, (void *)work, one);
	if (between) {
		OK(cudaGraphConditionalHandleCreate(&branch, body, 0, cudaGraphCondAssignDefault));
		last = add(body, &last, (void *)choose, pick);
		last = conditional(body, &last, branch, cudaGraphCondTypeIf, &inner);
		add(inner, NULL, (void *)in_if, one);
	}
	add(body, &last, (void *)decide, two);
	if (between || first)
		add(g, &node, (void *)end, one);
	OK(cudaGraphInstantiate(&exec, g, 0));
	for (int i = 0; i < launches; i++) {
		OK(cudaGraphLaunch(exec, in));
		if (stream)
			OK(cudaLaunchKernel((void *)plain, dim3(1), dim3(1), number, 0, in));
		else if (!between && !first)
			OK(cudaStreamSynchronize(in));
	}
	OK(cudaStreamSynchronize(in));
	OK(cudaMemcpy(&copy, s, sizeof(copy), cudaMemcpyDeviceToHost));
	for (int i = 0; i < launches; i++) {
		printf("launch %d ops %d\n", i, copy.ops[i]);
		all += copy.ops[i];
	}
	kernels = all + (stream ? launches : 0);
	printf("expect %d kernels 1 copies 1 sets\n", kernels);
	return copy.launch != launches;
}
