/* The CUDA driver API, CUDA 11 to 13, as one table (cuda_api.def): names, parameters, what each
 * call does. The guest's wrappers are generated from it, the recorder makes trace types from it,
 * and importers that only know names get categories from it. A function that is not in it still
 * works everywhere: it is merely not traced, and counted.
 *
 * Parameters are words "kind:name[=role][!]", in the order of the C prototype. '!' marks those that
 * --args key records.
 *
 *   kind     type of the parameter
 *   i u      signed, unsigned integer of 32 bits; also enums
 *   l z      signed, unsigned integer of 64 bits, size_t
 *   w b f    16 bits, 8 bits, float
 *   h a      a handle; CUdeviceptr
 *   p        a pointer; only its value is recorded
 *   s        const char *
 *   HAZUI    pointer to an output, which is read after success: handle, CUdeviceptr, size_t,
 *            unsigned, int
 *   X        64 bytes by value (CUipc*Handle)
 *   V        CUmemLocation by value: two ints
 *   L        const CUlaunchConfig *
 *   2 3 4    const CUDA_MEMCPY2D *, const CUDA_MEMCPY3D *, const CUDA_MEMCPY3D_PEER *
 *   M        const CUmemAllocationProp *
 *   R T      const CUDA_ARRAY_DESCRIPTOR *, const CUDA_ARRAY3D_DESCRIPTOR *
 *   N        const CUDA_KERNEL_NODE_PARAMS *
 *   E Q      size_t in elements of 2 or 4 bytes; recorded in bytes
 *   P        height of a pitched allocation; the allocation's bytes are recorded, too
 *   B C D    height of a rectangle. The parameter before it is the width, in elements of 1, 2 or 4
 *            bytes. The rectangle's bytes are recorded, too
 *   K        const size_t *: sizes of several copies. The next parameter is the number of copies.
 *            The sum of the sizes is recorded
 *
 * A role is a word of GT_R_* in lower case: bytes addr stream func grid block shared event graph
 * device context src dst value. Struct kinds expand to several fields; gt_api_fields gives them. */
#ifndef GT_CUDA_API_H
#define GT_CUDA_API_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "formats/trace/record.h"

/* The meaning of a call for the recorder, beside its op. */
enum gt_api_role {
	GT_API_NONE,
	GT_API_CONTEXT_CHANGE, /* it creates, binds or releases a context */
	GT_API_CONTEXT_END,    /* it destroys a context and all memory allocated in it */
	GT_API_STREAM_END,     /* it destroys a stream */
	/* until CAPTURE_END, launches into the stream become nodes of a graph and do not run */
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
	/* first CUDA version in which cuGetProcAddress finds it, 3020 for 3.2; 0: unknown */
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

static inline bool gt_api_makes_work(unsigned op) /* gives a GPU work */
{
	return op == GT_OP_LAUNCH || op == GT_OP_COPY || op == GT_OP_SET ||
		op == GT_OP_GRAPH_LAUNCH;
}
static inline bool gt_api_is_memory(unsigned op) /* allocates, frees or maps memory */
{
	return op == GT_OP_ALLOC || op == GT_OP_FREE || op == GT_OP_MAP || op == GT_OP_UNMAP ||
		op == GT_OP_RETAIN || op == GT_OP_IMPORT;
}
/* Does the call create, bind or destroy a context? True for names that the table lacks. */
bool gt_api_changes_context(const char *name);
/* Is its default stream the calling thread's? */
bool gt_api_per_thread(const char *name);
uint32_t gt_api_find(const char *name); /* id or GT_NONE; O(1) */
/* The length of the name without _ptsz, _ptds, _spt, _v2, _v3020 and the like. */
size_t gt_api_base_length(const char *name);
/* Is it any version of this function, or HIP's function of that name? */
bool gt_api_is(const char *name, const char *base);
/* Does it look like a function of CUDA's driver or runtime, or of HIP? */
bool gt_api_is_cuda(const char *name);
/* Category and so on of a name that the table may lack, or have with a suffix only ("cuMemAlloc",
 * "cudaMalloc", "hipMalloc"): from the table, else from the row of its base name, else from words
 * in the name. The result's name is the caller's. */
struct gt_api gt_api_guess(const char *name);

/* The name of a function of the CUDA runtime by CUPTI's number; NULL: unknown. */
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
	GT_FROM_LOCATION, /* a CUmemLocation: the device, -1: another location */
	/* an end of a copy: `at` is its memory type; host, device and array pointers follow */
	GT_FROM_END,
	/* the direction: memory types of source at >> 8, of destination at & 255 */
	GT_FROM_ENDS,
	GT_FROM_RECT,
	GT_FROM_BOX, /* bytes: product of the two, three sizes from `at` on */
	/* bytes of an array, from its descriptor; 0: the format has no fixed element size */
	GT_FROM_ARRAY2,
	GT_FROM_ARRAY3,
	GT_FROM_TIMES, /* w * at */
	GT_FROM_AREA,  /* w * the word before * at */
	GT_FROM_SUM,   /* of an array of size_t at w, an input; the next word is its length */
	GT_FROM_PITCH, /* w * the output that the pointer two words before points to */
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
