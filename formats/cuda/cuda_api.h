/* The CUDA driver API, CUDA 11 to 13, as one table (cuda_api.def): names, parameters, what each
 * call does. The guest's wrappers are generated from it, the recorder makes trace types from it,
 * and importers that only know names get categories from it. A function that is not in it still
 * works everywhere: it is merely not traced, and counted.
 *
 * Parameters are words "kind:name[=role][!]", in the order of the C prototype; '!' marks the ones
 * that --args key records. kinds   i u  32-bit signed/unsigned (also enums)     l z  64-bit
 * signed/unsigned, size_t    w b  16, 8 bits    f  float h    a handle (pointer-sized)   p  a
 * pointer that is only shown   a  CUdeviceptr   s  const char * H A Z U I  what it points at is an
 * output: handle, CUdeviceptr, size_t, unsigned, int; read after success X    a 64-byte struct by
 * value (CUipc*Handle) L    const CUlaunchConfig *     2 3 4  const CUDA_MEMCPY2D / 3D / 3D_PEER *
 * M  const CUmemAllocationProp * R    const CUDA_ARRAY_DESCRIPTOR *   T  const
 * CUDA_ARRAY3D_DESCRIPTOR *   N  const CUDA_KERNEL_NODE_PARAMS * E Q  size_t in elements of 2 / 4
 * bytes, recorded as bytes    P  height of a pitched allocation: gives bytes, too B C D  height of
 * a rectangle whose width stands before it in elements of 1 / 2 / 4 bytes: gives bytes, too K const
 * size_t *: sizes of as many copies as the parameter behind it says, recorded as their sum roles
 * words of GT_R_* in lower case: bytes addr stream func grid block shared event graph device
 * context src dst value Struct kinds expand to several fields; gt_api_fields gives the expansion.
 */
#ifndef GT_CUDA_API_H
#define GT_CUDA_API_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "formats/trace/record.h"

/* What a call means for the recorder, beside its op. */
enum gt_api_role {
	GT_API_NONE,
	GT_API_CONTEXT_CHANGE, /* it creates, binds or releases a context */
	GT_API_CONTEXT_END,    /* it destroys a context, and with it what was allocated there */
	GT_API_STREAM_END,     /* it destroys a stream */
	/* from here to CAPTURE_END launches of the stream become nodes of a graph, and nothing runs
	 */
	GT_API_CAPTURE_BEGIN,
	GT_API_CAPTURE_END,
	/* it adds a node to a graph; its first parameter is where the node's handle goes */
	GT_API_GRAPH_NODE,
	/* it clones, or instantiates, the graph of its second parameter; its first parameter is
	 * where the new handle goes */
	GT_API_GRAPH_CLONE,
	GT_API_GRAPH_INSTANCE
};
struct gt_api {
	const char *name; /* as libcuda exports it: cuMemAlloc_v2, cuLaunchKernel_ptsz */
	/* CUDA version cuGetProcAddress knows it from, 3020 for 3.2; 0 unknown */
	uint32_t since;
	uint8_t category, op, memkind; /* enums of record.h */
	uint8_t direction;             /* enum gt_direction of copies whose name says it */
	uint8_t role;                  /* enum gt_api_role */
	const char *params;            /* "" when it has none */
};
/* Ids are indices into this table and mean something only in one build; files carry names. */
extern const struct gt_api gt_api[];
extern const uint32_t gt_api_count;
#define GT_API_MAX 1024

static inline bool gt_api_makes_work(unsigned op) /* of a GPU */
{
	return op == GT_OP_LAUNCH || op == GT_OP_COPY || op == GT_OP_SET ||
		op == GT_OP_GRAPH_LAUNCH;
}
static inline bool gt_api_is_memory(unsigned op) /* does it change what is allocated? */
{
	return op == GT_OP_ALLOC || op == GT_OP_FREE || op == GT_OP_MAP || op == GT_OP_UNMAP ||
		op == GT_OP_RETAIN || op == GT_OP_IMPORT;
}
/* Does a call of category context create, bind or destroy one? True for names that are not in the
 * table. */
bool gt_api_changes_context(const char *name);
/* its default stream is the calling thread's own */
bool gt_api_per_thread(const char *name);
uint32_t gt_api_find(const char *name); /* id or GT_NONE; O(1) */
/* of the name without _ptsz, _ptds, _spt, _v2, _v3020 and the like */
size_t gt_api_base_length(const char *name);
/* is it this function, or HIP's of that name, in whichever version? */
bool gt_api_is(const char *name, const char *base);
/* has it the form of a function of CUDA's driver or runtime, or of HIP? */
bool gt_api_is_cuda(const char *name);
/* Category and so on of a name that may be missing in the table or lack its suffix ("cuMemAlloc",
 * "cudaMalloc", "hipMalloc"): by table, then by the table's base name, then by its words. name
 * always set to the caller's. */
struct gt_api gt_api_guess(const char *name);

/* of the CUDA runtime's function that CUPTI calls so; NULL */
const char *gt_cuda_runtime_name(uint32_t cbid);

/* How the guest gets a field's value from parameter `param`, the word w. */
enum gt_api_from {
	GT_FROM_WORD,
	GT_FROM_I32, /* w itself; sign-extended */
	GT_FROM_STR, /* the text at w */
	GT_FROM_OUT64,
	GT_FROM_OUT32,
	GT_FROM_OUT32S, /* *w, an output */
	/* member `at` of the struct at w, an input; so are the following */
	GT_FROM_MEM64,
	GT_FROM_MEM32,
	GT_FROM_LOCATION, /* a CUmemLocation: which device, -1 when it is none */
	/* an end of a copy: `at` is its memory type, behind which stand host, device and array */
	GT_FROM_END,
	/* the direction: memory types of source at >> 8, of destination at & 255 */
	GT_FROM_ENDS,
	GT_FROM_RECT,
	GT_FROM_BOX, /* bytes: product of the two, three sizes from `at` on */
	/* bytes of an array by its descriptor; 0 for formats that have no fixed element */
	GT_FROM_ARRAY2,
	GT_FROM_ARRAY3,
	GT_FROM_TIMES, /* w * at */
	GT_FROM_AREA,  /* w * the word before * at */
	GT_FROM_SUM,   /* of as many size_t at w, an input, as the word behind it says */
	GT_FROM_PITCH, /* w * what the pointer two words before points at, an output */
};
struct gt_api_field {
	char name[32];
	uint8_t kind /* GT_F_* */, role /* GT_R_* */;
	bool key;
	uint8_t param, how; /* which parameter, enum gt_api_from */
	uint16_t at;
};
/* The fields of a call in the order the guest writes their values. Returns how many (<=
 * GT_FIELDS_MAX). */
unsigned gt_api_fields(const struct gt_api *api, struct gt_api_field fields[GT_FIELDS_MAX]);
#endif
