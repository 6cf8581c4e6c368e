#include "collect/bpf/links/cookie_wrapper.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <unistd.h>

/* Instructions of BPF. */
#define MOVE(to, from)                                                                             \
	{                                                                                          \
		.code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = (to), .src_reg = (from)            \
	}
#define SET(to, value)                                                                             \
	{                                                                                          \
		.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = (to), .imm = (value)               \
	}
#define ADD(to, value)                                                                             \
	{                                                                                          \
		.code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = (to), .imm = (value)               \
	}
#define LOAD_64(to, kind, low, high)                                                               \
	{ .code = BPF_LD | BPF_DW | BPF_IMM,                                                       \
		.dst_reg = (to),                                                                   \
		.src_reg = (kind),                                                                 \
		.imm = (int)(low) },                                                               \
	{                                                                                          \
		.imm = (int)(high)                                                                 \
	}
#define STORE_32(at, offset, value)                                                                \
	{                                                                                          \
		.code = BPF_ST | BPF_MEM | BPF_W, .dst_reg = (at), .off = (offset), .imm = (value) \
	}
#define STORE_64(at, from)                                                                         \
	{                                                                                          \
		.code = BPF_STX | BPF_MEM | BPF_DW, .dst_reg = (at), .src_reg = (from)             \
	}
#define CALL(function)                                                                             \
	{                                                                                          \
		.code = BPF_JMP | BPF_CALL, .imm = (function)                                      \
	}
#define SKIP_IF_ZERO(what, n)                                                                      \
	{                                                                                          \
		.code = BPF_JMP | BPF_JEQ | BPF_K, .dst_reg = (what), .off = (n)                   \
	}
#define EXIT                                                                                       \
	{                                                                                          \
		.code = BPF_JMP | BPF_EXIT                                                         \
	}
enum { R0, R1, R2, R3, R6 = 6, STACK = 10 };

static int load(enum bpf_prog_type type, int cookies, int target, uint64_t cookie)
{
	const struct bpf_insn code[] = {
		MOVE(R6, R1), /* the context */
		STORE_32(STACK, -4, 0),
		MOVE(R2, STACK),
		ADD(R2, -4),
		LOAD_64(R1, BPF_PSEUDO_MAP_FD, cookies, 0),
		CALL(BPF_FUNC_map_lookup_elem),
		SKIP_IF_ZERO(R0, 8),
		LOAD_64(R1, 0, cookie, cookie >> 32),
		STORE_64(R0, R1),
		MOVE(R1, R6),
		LOAD_64(R2, BPF_PSEUDO_MAP_FD, target, 0),
		SET(R3, 0),
		CALL(BPF_FUNC_tail_call), /* returns only if it fails */
		SET(R0, 0),
		EXIT,
	};
	int fd = bpf_prog_load(type, "gt_cookie", "GPL", code, sizeof(code) / sizeof(*code), NULL);

	return fd < 0 ? -errno : fd;
}

/* The map for tail calls to the program, which is made for its first probe. */
static int target_of(struct gt_cookie_wrappers *w, const struct bpf_program *program)
{
	uint32_t zero = 0;
	int map, fd = bpf_program__fd(program);

	for (unsigned i = 0; i < w->n; i++)
		if (w->targets[i].program == program)
			return w->targets[i].map;
	if (w->n == GT_WRAPPED_PROGRAMS)
		return -E2BIG;
	map = bpf_map_create(
		BPF_MAP_TYPE_PROG_ARRAY, "gt_target", sizeof(zero), sizeof(fd), 1, NULL);
	if (map < 0)
		return -errno;
	if (bpf_map_update_elem(map, &zero, &fd, BPF_ANY)) {
		int rc = -errno;

		close(map);
		return rc;
	}
	w->targets[w->n].program = program;
	return w->targets[w->n++].map = map;
}

int gt_cookie_wrapper_load(
	struct gt_cookie_wrappers *w, const struct bpf_program *program, uint64_t cookie)
{
	int target = target_of(w, program);

	return target < 0 ? target : load(bpf_program__type(program), w->cookies, target, cookie);
}

void gt_cookie_wrappers_close(struct gt_cookie_wrappers *w)
{
	for (unsigned i = 0; i < w->n; i++)
		close(w->targets[i].map);
	w->n = 0;
}
