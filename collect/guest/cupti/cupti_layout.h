/* CUPTI's functions and record layouts, as far as the guest uses them: types of functions, and
 * offsets of the fields that all versions from CUDA 11.8 to 13.x share. Newer versions only append
 * fields, and CUPTI itself steps from one record to the next, so one build reads all versions. The
 * facts are from cupti_activity.h. tests/unit/collect/guest/test_guest_cupti.c compares them with
 * the simulated CUPTI's records, and these with the header if it is installed. */
#ifndef GT_CUPTI_LAYOUT_H
#define GT_CUPTI_LAYOUT_H
#include <stddef.h>
#include <stdint.h>

enum { /* CUpti_ActivityKind */
	GT_CUPTI_MEMCPY = 1,
	GT_CUPTI_MEMSET = 2,
	GT_CUPTI_DRIVER = 4,
	GT_CUPTI_RUNTIME = 5,
	GT_CUPTI_KERNEL = 10 /* concurrent */,
	GT_CUPTI_OVERHEAD = 17,
	GT_CUPTI_MEMCPY_PEER = 22,
	GT_CUPTI_MANAGED = 25,
};
enum { GT_CUPTI_ZEROED_BUFFERS = 5 }; /* CUpti_ActivityAttribute: the client gives zeroed buffers */
enum { GT_CUPTI_SYSTEM_TID = 1 };     /* CUpti_ActivityThreadIdType: gettid() */
enum { GT_CUPTI_NOT_SUPPORTED = 27 }; /* CUptiResult */
enum { GT_CUPTI_FORCED = 1 };         /* CUpti_ActivityFlag: flush incomplete buffers, too */

enum { /* offsets in a record; its kind is a u32 at 0 */
	GT_K_REGISTERS = 6 /* u16 */,
	GT_K_START = 16,
	GT_K_END = 24,
	GT_K_DEVICE = 40,
	GT_K_CONTEXT = 44,
	GT_K_STREAM = 48,
	GT_K_GRID = 52 /* 3 */,
	GT_K_BLOCK = 64 /* 3 */,
	GT_K_SHARED = 76 /* static, dynamic */,
	GT_K_CORRELATION = 92,
	GT_K_NAME = 104,
	GT_K_NODE = 144,
	GT_K_GRAPH = 156,
	GT_K_BYTES = 208 /* at least */,
	/* copies, copies between devices, and sets */
	GT_C_KINDS = 4 /* 4 bytes */,
	GT_C_BYTES = 8,
	GT_C_START = 16,
	GT_C_END = 24,
	GT_C_DEVICE = 32,
	GT_C_CONTEXT = 36,
	GT_C_STREAM = 40,
	GT_C_CORRELATION = 44,
	GT_C_NODE = 64,
	GT_C_GRAPH = 72,
	GT_P_SOURCE = 44,
	GT_P_DESTINATION = 52,
	GT_P_CORRELATION = 60,
	GT_P_NODE = 72,
	GT_P_GRAPH = 80,
	GT_S_VALUE = 4,
	GT_S_FLAGS = 48 /* u16, then the memory kind, u16 */,
	/* managed memory */
	GT_U_COUNTER = 4,
	GT_U_VALUE = 8,
	GT_U_START = 16,
	GT_U_END = 24,
	GT_U_ADDRESS = 32,
	GT_U_FROM = 40,
	GT_U_TO = 44,
	GT_U_FLAGS = 56,
	/* overhead */
	GT_O_OVERHEAD = 4,
	GT_O_OBJECT = 8,
	GT_O_PROCESS = 12,
	GT_O_THREAD = 16,
	GT_O_START = 24,
	GT_O_END = 32,
	GT_O_DATA = 48,
	/* calls */
	GT_A_CBID = 4,
	GT_A_START = 8,
	GT_A_END = 16,
	GT_A_THREAD = 28,
	GT_A_CORRELATION = 32,
	GT_A_RETURNED = 36,
};

#define GT_CUPTI_LIBRARY "libcupti.so"
enum { GT_CUPTI_DRIVER_CALLS = 1 };     /* CUpti_CallbackDomain */
enum { GT_CUPTI_ENTER, GT_CUPTI_EXIT }; /* CUpti_ApiCallbackSite */
#define GT_CBID_MAX 2048u               /* greater than any callback id so far */

struct gt_cupti_call { /* CUpti_CallbackData */
	uint32_t site;
	const char *function;
	const void *params; /* a struct with all parameters, each of its own size */
	const void *result; /* of the result's own size */
	const char *symbol; /* of a launch: the kernel's name, or NULL */
	const void *context;
	uint32_t context_id;
	uint64_t *client_word; /* a word that CUPTI keeps from the call's begin to its end */
	uint32_t correlation;
};

/* scope of counters of managed memory; their kinds are 1 to 8 */
enum { GT_CUPTI_ALL_DEVICES = 2, GT_CUPTI_COUNTERS = 9 };
/* an overhead; GT_O_DATA points to more data, which the client frees */
enum { GT_CUPTI_COMMANDS_FULL = 6 << 16 };
struct gt_cupti_counter {
	uint32_t scope, kind, device, enable;
};

struct gt_cupti {
	int (*version)(uint32_t *version);
	int (*timestamps)(uint64_t (*now)(void));
	int (*thread_ids)(int type);
	int (*which_thread_ids)(int *type);
	int (*set_attribute)(int attribute, size_t *size, void *value);
	int (*callbacks)(void (*requested)(uint8_t **buffer, size_t *size, size_t *most),
		void (*completed)(void *context, uint32_t stream, uint8_t *buffer, size_t size,
			size_t valid));
	int (*enable)(int kind);
	int (*disable)(int kind);
	int (*enable_driver_call)(uint32_t cbid, uint8_t on); /* since CUDA 12.5 */
	int (*counters)(struct gt_cupti_counter *config, uint32_t n);
	int (*flush)(uint32_t flags);
	int (*next)(uint8_t *buffer, size_t valid, uint8_t **record);
	int (*dropped)(void *context, uint32_t stream, size_t *dropped);
};
#endif
