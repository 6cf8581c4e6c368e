/* The numbers are those of NVIDIA's published kernel modules (nv_escape.h, nv-ioctl-numbers.h,
 * ctrl/, class/, uvm_ioctl.h).
 *
 * The lowest byte of a request on /dev/nvidiactl and /dev/nvidiaN is an escape number. Two escapes
 * have a further number: RM_CONTROL a command, whose upper half is its class, and RM_ALLOC a class.
 * UVM's requests are plain numbers. The tables are small and searched once for each distinct
 * request, so a linear search is fast enough. */
#include "formats/cuda/ioctl_names.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct name {
	uint32_t number;
	const char *text;
};

static const struct name escapes[] = {
	{ 0x27, "RM_ALLOC_MEMORY" },
	{ 0x28, "RM_ALLOC_OBJECT" },
	{ 0x29, "RM_FREE" },
	{ 0x2a, "RM_CONTROL" },
	{ 0x2b, "RM_ALLOC" },
	{ 0x32, "RM_CONFIG_GET" },
	{ 0x33, "RM_CONFIG_SET" },
	{ 0x34, "RM_DUP_OBJECT" },
	{ 0x35, "RM_SHARE" },
	{ 0x37, "RM_CONFIG_GET_EX" },
	{ 0x38, "RM_CONFIG_SET_EX" },
	{ 0x39, "RM_I2C_ACCESS" },
	{ 0x41, "RM_IDLE_CHANNELS" },
	{ 0x4a, "RM_VID_HEAP_CONTROL" },
	{ 0x4d, "RM_ACCESS_REGISTRY" },
	{ 0x4e, "RM_MAP_MEMORY" },
	{ 0x4f, "RM_UNMAP_MEMORY" },
	{ 0x52, "RM_GET_EVENT_DATA" },
	{ 0x54, "RM_ALLOC_CONTEXT_DMA2" },
	{ 0x56, "RM_ADD_VBLANK_CALLBACK" },
	{ 0x57, "RM_MAP_MEMORY_DMA" },
	{ 0x58, "RM_UNMAP_MEMORY_DMA" },
	{ 0x59, "RM_BIND_CONTEXT_DMA" },
	{ 0x5c, "RM_EXPORT_OBJECT_TO_FD" },
	{ 0x5d, "RM_IMPORT_OBJECT_FROM_FD" },
	{ 0x5e, "RM_UPDATE_DEVICE_MAPPING_INFO" },
	{ 0x5f, "RM_LOCKLESS_DIAGNOSTIC" },
	{ 200, "CARD_INFO" },
	{ 201, "REGISTER_FD" },
	{ 206, "ALLOC_OS_EVENT" },
	{ 207, "FREE_OS_EVENT" },
	{ 209, "STATUS_CODE" },
	{ 210, "CHECK_VERSION_STR" },
	{ 211, "IOCTL_XFER_CMD" },
	{ 212, "ATTACH_GPUS_TO_FD" },
	{ 213, "QUERY_DEVICE_INTR" },
	{ 214, "SYS_PARAMS" },
	{ 215, "NUMA_INFO" },
	{ 216, "SET_NUMA_STATUS" },
	{ 217, "EXPORT_TO_DMABUF_FD" },
	{ 218, "WAIT_OPEN_COMPLETE" },
};
#define RM_CONTROL 0x2a
#define RM_ALLOC 0x2b

static const struct name uvm[] = {
	{ 0x30000001, "UVM_INITIALIZE" },
	{ 0x30000002, "UVM_DEINITIALIZE" },
	{ 1, "UVM_RESERVE_VA" },
	{ 2, "UVM_RELEASE_VA" },
	{ 23, "UVM_CREATE_RANGE_GROUP" },
	{ 24, "UVM_DESTROY_RANGE_GROUP" },
	{ 25, "UVM_REGISTER_GPU_VASPACE" },
	{ 26, "UVM_UNREGISTER_GPU_VASPACE" },
	{ 27, "UVM_REGISTER_CHANNEL" },
	{ 28, "UVM_UNREGISTER_CHANNEL" },
	{ 29, "UVM_ENABLE_PEER_ACCESS" },
	{ 30, "UVM_DISABLE_PEER_ACCESS" },
	{ 31, "UVM_SET_RANGE_GROUP" },
	{ 33, "UVM_MAP_EXTERNAL_ALLOCATION" },
	{ 34, "UVM_FREE" },
	{ 35, "UVM_MEM_MAP" },
	{ 37, "UVM_REGISTER_GPU" },
	{ 38, "UVM_UNREGISTER_GPU" },
	{ 39, "UVM_PAGEABLE_MEM_ACCESS" },
	{ 40, "UVM_PREVENT_MIGRATION_RANGE_GROUPS" },
	{ 41, "UVM_ALLOW_MIGRATION_RANGE_GROUPS" },
	{ 42, "UVM_SET_PREFERRED_LOCATION" },
	{ 43, "UVM_UNSET_PREFERRED_LOCATION" },
	{ 44, "UVM_ENABLE_READ_DUPLICATION" },
	{ 45, "UVM_DISABLE_READ_DUPLICATION" },
	{ 46, "UVM_SET_ACCESSED_BY" },
	{ 47, "UVM_UNSET_ACCESSED_BY" },
	{ 51, "UVM_MIGRATE" },
	{ 53, "UVM_MIGRATE_RANGE_GROUP" },
	{ 54, "UVM_ENABLE_SYSTEM_WIDE_ATOMICS" },
	{ 55, "UVM_DISABLE_SYSTEM_WIDE_ATOMICS" },
	{ 56, "UVM_TOOLS_INIT_EVENT_TRACKER" },
	{ 57, "UVM_TOOLS_SET_NOTIFICATION_THRESHOLD" },
	{ 58, "UVM_TOOLS_EVENT_QUEUE_ENABLE_EVENTS" },
	{ 59, "UVM_TOOLS_EVENT_QUEUE_DISABLE_EVENTS" },
	{ 60, "UVM_TOOLS_ENABLE_COUNTERS" },
	{ 61, "UVM_TOOLS_DISABLE_COUNTERS" },
	{ 62, "UVM_TOOLS_READ_PROCESS_MEMORY" },
	{ 63, "UVM_TOOLS_WRITE_PROCESS_MEMORY" },
	{ 64, "UVM_TOOLS_GET_PROCESSOR_UUID_TABLE" },
	{ 65, "UVM_MAP_DYNAMIC_PARALLELISM_REGION" },
	{ 66, "UVM_UNMAP_EXTERNAL" },
	{ 67, "UVM_TOOLS_FLUSH_EVENTS" },
	{ 68, "UVM_ALLOC_SEMAPHORE_POOL" },
	{ 69, "UVM_CLEAN_UP_ZOMBIE_RESOURCES" },
	{ 70, "UVM_PAGEABLE_MEM_ACCESS_ON_GPU" },
	{ 71, "UVM_POPULATE_PAGEABLE" },
	{ 72, "UVM_VALIDATE_VA_RANGE" },
	{ 73, "UVM_CREATE_EXTERNAL_RANGE" },
	{ 74, "UVM_MAP_EXTERNAL_SPARSE" },
	{ 75, "UVM_MM_INITIALIZE" },
	{ 80, "UVM_DISCARD" },
};

static const struct name controls[] = {
#define C(class, number, text)                                                                     \
	{                                                                                          \
		number, "NV" #class "_CTRL_CMD_" text                                              \
	}
	C(0000, 0x101, "SYSTEM_GET_BUILD_VERSION"),
	C(0000, 0x102, "SYSTEM_GET_CPU_INFO"),
	C(0000, 0x127, "SYSTEM_GET_P2P_CAPS"),
	C(0000, 0x136, "SYSTEM_GET_FABRIC_STATUS"),
	C(0000, 0x13a, "SYSTEM_GET_P2P_CAPS_MATRIX"),
	C(0000, 0x13e, "SYSTEM_GET_BUILD_VERSION_V2"),
	C(0000, 0x1f0, "SYSTEM_GET_FEATURES"),
	C(0000, 0x201, "GPU_GET_ATTACHED_IDS"),
	C(0000, 0x202, "GPU_GET_ID_INFO"),
	C(0000, 0x205, "GPU_GET_ID_INFO_V2"),
	C(0000, 0x214, "GPU_GET_PROBED_IDS"),
	C(0000, 0x215, "GPU_ATTACH_IDS"),
	C(0000, 0x216, "GPU_DETACH_IDS"),
	C(0000, 0x21b, "GPU_GET_PCI_INFO"),
	C(0000, 0x279, "GPU_QUERY_DRAIN_STATE"),
	C(0000, 0x27b, "GPU_GET_MEMOP_ENABLE"),
	C(0000, 0xa04, "SYNC_GPU_BOOST_GROUP_INFO"),
	C(0000, 0xd01, "CLIENT_GET_ADDR_SPACE_TYPE"),
	C(0000, 0xd04, "CLIENT_SET_INHERITED_SHARE_POLICY"),
	C(0000, 0x3d05, "OS_UNIX_EXPORT_OBJECT_TO_FD"),
	C(0000, 0x3d06, "OS_UNIX_IMPORT_OBJECT_FROM_FD"),
	C(0000, 0x3d08, "OS_UNIX_GET_EXPORT_OBJECT_INFO"),
	C(0080, 0x800201, "GPU_GET_CLASSLIST"),
	C(0080, 0x800280, "GPU_GET_NUM_SUBDEVICES"),
	C(0080, 0x800288, "GPU_QUERY_SW_STATE_PERSISTENCE"),
	C(0080, 0x800289, "GPU_GET_VIRTUALIZATION_MODE"),
	C(0080, 0x800292, "GPU_GET_CLASSLIST_V2"),
	C(0080, 0x801307, "FB_GET_CAPS_V2"),
	C(0080, 0x801402, "HOST_GET_CAPS_V2"),
	C(0080, 0x80170d, "FIFO_GET_CHANNELLIST"),
	C(2080, 0x20800101, "GPU_GET_INFO"),
	C(2080, 0x20800102, "GPU_GET_INFO_V2"),
	C(2080, 0x20800110, "GPU_GET_NAME_STRING"),
	C(2080, 0x20800111, "GPU_GET_SHORT_NAME_STRING"),
	C(2080, 0x20800119, "GPU_GET_SIMULATION_INFO"),
	C(2080, 0x20800123, "GPU_GET_ENGINES"),
	C(2080, 0x2080012f, "GPU_QUERY_ECC_STATUS"),
	C(2080, 0x20800131, "GPU_QUERY_COMPUTE_MODE_RULES"),
	C(2080, 0x20800142, "GPU_GET_ID"),
	C(2080, 0x20800145, "GPU_ACQUIRE_COMPUTE_MODE_RESERVATION"),
	C(2080, 0x20800146, "GPU_RELEASE_COMPUTE_MODE_RESERVATION"),
	C(2080, 0x2080014a, "GPU_GET_GID_INFO"),
	C(2080, 0x20800170, "GPU_GET_ENGINES_V2"),
	C(2080, 0x2080018b, "GPU_GET_ACTIVE_PARTITION_IDS"),
	C(2080, 0x2080018d, "GPU_GET_PIDS"),
	C(2080, 0x2080018e, "GPU_GET_PID_INFO"),
	C(2080, 0x20800195, "GPU_GET_COMPUTE_POLICY_CONFIG"),
	C(2080, 0x208001a3, "GET_GPU_FABRIC_PROBE_INFO"),
	C(2080, 0x20800301, "EVENT_SET_NOTIFICATION"),
	C(2080, 0x20800403, "TIMER_GET_TIME"),
	C(2080, 0x20800406, "TIMER_GET_GPU_CPU_TIME_CORRELATION_INFO"),
	C(2080, 0x20800802, "BIOS_GET_INFO"),
	C(2080, 0x2080110b, "FIFO_DISABLE_CHANNELS"),
	C(2080, 0x20801201, "GR_GET_INFO"),
	C(2080, 0x20801206, "GR_GET_ZCULL_INFO"),
	C(2080, 0x20801210, "GR_SET_CTXSW_PREEMPTION_MODE"),
	C(2080, 0x20801218, "GR_GET_CTX_BUFFER_SIZE"),
	C(2080, 0x2080121b, "GR_GET_GLOBAL_SM_ORDER"),
	C(2080, 0x20801227, "GR_GET_CAPS_V2"),
	C(2080, 0x2080122a, "GR_GET_GPC_MASK"),
	C(2080, 0x2080122b, "GR_GET_TPC_MASK"),
	C(2080, 0x20801301, "FB_GET_INFO"),
	C(2080, 0x20801303, "FB_GET_INFO_V2"),
	C(2080, 0x20801315, "FB_GET_GPU_CACHE_INFO"),
	C(2080, 0x20801320, "FB_GET_FB_REGION_INFO"),
	C(2080, 0x20801701, "MC_GET_ARCH_INFO"),
	C(2080, 0x20801702, "MC_SERVICE_INTERRUPTS"),
	C(2080, 0x20801801, "BUS_GET_PCI_INFO"),
	C(2080, 0x20801802, "BUS_GET_INFO"),
	C(2080, 0x20801803, "BUS_GET_PCI_BAR_INFO"),
	C(2080, 0x20801823, "BUS_GET_INFO_V2"),
	C(2080, 0x2080182a, "BUS_GET_PCIE_SUPPORTED_GPU_ATOMICS"),
	C(2080, 0x2080182b, "BUS_GET_C2C_INFO"),
	C(2080, 0x2080200a, "PERF_BOOST"),
	C(2080, 0x20802209, "RC_GET_WATCHDOG_INFO"),
	C(2080, 0x2080220c, "RC_RELEASE_WATCHDOG_REQUESTS"),
	C(2080, 0x20802210, "RC_SOFT_DISABLE_WATCHDOG"),
	C(2080, 0x20802a02, "CE_GET_CE_PCE_MASK"),
	C(2080, 0x20802a03, "CE_GET_CAPS_V2"),
	C(2080, 0x20802a0a, "CE_GET_ALL_CAPS"),
	C(2080, 0x20803001, "NVLINK_GET_NVLINK_CAPS"),
	C(2080, 0x20803002, "NVLINK_GET_NVLINK_STATUS"),
	C(2080, 0x20803601, "GSP_GET_FEATURES"),
	C(503C, 0x503c0102, "REGISTER_VA_SPACE"),
	C(503C, 0x503c0104, "REGISTER_VIDMEM"),
	C(503C, 0x503c0105, "UNREGISTER_VIDMEM"),
	C(83DE, 0x83de0309, "DEBUG_SET_EXCEPTION_MASK"),
	C(83DE, 0x83de030c, "DEBUG_READ_ALL_SM_ERROR_STATES"),
	C(83DE, 0x83de0310, "DEBUG_CLEAR_ALL_SM_ERROR_STATES"),
	C(906F, 0x906f0102, "RESET_CHANNEL"),
	C(9096, 0x90960106, "GET_ZBC_CLEAR_TABLE_ENTRY"),
	C(90E6, 0x90e60102, "MASTER_GET_VIRTUAL_FUNCTION_ERROR_CONT_INTR_MASK"),
	C(A06C, 0xa06c0101, "GPFIFO_SCHEDULE"),
	C(A06C, 0xa06c0103, "SET_TIMESLICE"),
	C(A06C, 0xa06c0105, "PREEMPT"),
	C(A06F, 0xa06f0103, "GPFIFO_SCHEDULE"),
	C(A06F, 0xa06f0104, "BIND"),
	C(C36F, 0xc36f0101, "GET_CLASS_ENGINEID"),
	C(C36F, 0xc36f0108, "GPFIFO_GET_WORK_SUBMIT_TOKEN"),
	C(C36F, 0xc36f010a, "GPFIFO_SET_WORK_SUBMIT_TOKEN_NOTIF_INDEX"),
	C(CB33, 0xcb330101, "SYSTEM_GET_CAPABILITIES"),
#undef C
};

static const struct name classes[] = {
	{ 0x0000, "NV01_ROOT" },
	{ 0x0001, "NV01_ROOT_NON_PRIV" },
	{ 0x0002, "NV01_CONTEXT_DMA" },
	{ 0x0005, "NV01_EVENT" },
	{ 0x003e, "NV01_MEMORY_SYSTEM" },
	{ 0x003f, "NV01_MEMORY_LOCAL_PRIVILEGED" },
	{ 0x0040, "NV01_MEMORY_LOCAL_USER" },
	{ 0x0041, "NV01_ROOT_CLIENT" },
	{ 0x0042, "NV_MEMORY_EXTENDED_USER" },
	{ 0x0070, "NV01_MEMORY_VIRTUAL" },
	{ 0x0071, "NV01_MEMORY_SYSTEM_OS_DESCRIPTOR" },
	{ 0x0079, "NV01_EVENT_OS_EVENT" },
	{ 0x0080, "NV01_DEVICE_0" },
	{ 0x00da, "NV_SEMAPHORE_SURFACE" },
	{ 0x00de, "RM_USER_SHARED_DATA" },
	{ 0x00e0, "NV_MEMORY_EXPORT" },
	{ 0x00f1, "NV_IMEX_SESSION" },
	{ 0x00f8, "NV_MEMORY_FABRIC" },
	{ 0x00fb, "NV_MEMORY_FABRIC_IMPORTED_REF" },
	{ 0x00fd, "NV_MEMORY_MULTICAST_FABRIC" },
	{ 0x00fe, "NV_MEMORY_MAPPER" },
	{ 0x2080, "NV20_SUBDEVICE_0" },
	{ 0x2081, "NV2081_BINAPI" },
	{ 0x503b, "NV50_P2P" },
	{ 0x503c, "NV50_THIRD_PARTY_P2P" },
	{ 0x50a0, "NV50_MEMORY_VIRTUAL" },
	{ 0x83de, "GT200_DEBUGGER" },
	{ 0x900e, "MPS_COMPUTE" },
	{ 0x902d, "FERMI_TWOD_A" },
	{ 0x9067, "FERMI_CONTEXT_SHARE_A" },
	{ 0x9072, "GF100_DISP_SW" },
	{ 0x9096, "GF100_ZBC_CLEAR" },
	{ 0x90cc, "GF100_PROFILER" },
	{ 0x90cd, "NV_EVENT_BUFFER" },
	{ 0x90ce, "NV01_MEMORY_DEVICELESS" },
	{ 0x90e6, "GF100_SUBDEVICE_MASTER" },
	{ 0x90e7, "GF100_SUBDEVICE_INFOROM" },
	{ 0x90f1, "FERMI_VASPACE_A" },
	{ 0xa06c, "KEPLER_CHANNEL_GROUP_A" },
	{ 0xa06f, "KEPLER_CHANNEL_GPFIFO_A" },
	{ 0xa140, "KEPLER_INLINE_TO_MEMORY_B" },
	{ 0xb06f, "MAXWELL_CHANNEL_GPFIFO_A" },
	{ 0xb1cc, "MAXWELL_PROFILER_CONTEXT" },
	{ 0xb2cc, "MAXWELL_PROFILER_DEVICE" },
	{ 0xc06f, "PASCAL_CHANNEL_GPFIFO_A" },
	{ 0xc0b5, "PASCAL_DMA_COPY_A" },
	{ 0xc0c0, "PASCAL_COMPUTE_A" },
	{ 0xc361, "VOLTA_USERMODE_A" },
	{ 0xc36f, "VOLTA_CHANNEL_GPFIFO_A" },
	{ 0xc3b5, "VOLTA_DMA_COPY_A" },
	{ 0xc3c0, "VOLTA_COMPUTE_A" },
	{ 0xc461, "TURING_USERMODE_A" },
	{ 0xc46f, "TURING_CHANNEL_GPFIFO_A" },
	{ 0xc597, "TURING_A" },
	{ 0xc5b5, "TURING_DMA_COPY_A" },
	{ 0xc5c0, "TURING_COMPUTE_A" },
	{ 0xc56f, "AMPERE_CHANNEL_GPFIFO_A" },
	{ 0xc661, "HOPPER_USERMODE_A" },
	{ 0xc697, "AMPERE_A" },
	{ 0xc6b5, "AMPERE_DMA_COPY_A" },
	{ 0xc6c0, "AMPERE_COMPUTE_A" },
	{ 0xc761, "BLACKWELL_USERMODE_A" },
	{ 0xc7b5, "AMPERE_DMA_COPY_B" },
	{ 0xc7c0, "AMPERE_COMPUTE_B" },
	{ 0xc86f, "HOPPER_CHANNEL_GPFIFO_A" },
	{ 0xc8b5, "HOPPER_DMA_COPY_A" },
	{ 0xc96f, "BLACKWELL_CHANNEL_GPFIFO_A" },
	{ 0xc997, "ADA_A" },
	{ 0xc9b5, "BLACKWELL_DMA_COPY_A" },
	{ 0xc9c0, "ADA_COMPUTE_A" },
	{ 0xca6f, "BLACKWELL_CHANNEL_GPFIFO_B" },
	{ 0xcab5, "BLACKWELL_DMA_COPY_B" },
	{ 0xcb33, "NV_CONFIDENTIAL_COMPUTE" },
	{ 0xcb97, "HOPPER_A" },
	{ 0xcba2, "HOPPER_SEC2_WORK_LAUNCH_A" },
	{ 0xcbc0, "HOPPER_COMPUTE_A" },
	{ 0xcbca, "NV_COUNTER_COLLECTION_UNIT" },
	{ 0xcd40, "BLACKWELL_INLINE_TO_MEMORY_A" },
	{ 0xcd97, "BLACKWELL_A" },
	{ 0xcdc0, "BLACKWELL_COMPUTE_A" },
	{ 0xce97, "BLACKWELL_B" },
	{ 0xcec0, "BLACKWELL_COMPUTE_B" },
};

#define FIND(table, number) find(table, sizeof(table) / sizeof(*(table)), number)
static const char *find(const struct name *table, size_t n, uint64_t number)
{
	for (size_t i = 0; i < n; i++)
		if (table[i].number == number)
			return table[i].text;
	return NULL;
}

void gt_ioctl_file(char *to, size_t size, uint64_t file)
{
	static const char *const named[] = {
		[GT_DEV_CTL] = "/dev/nvidiactl",
		[GT_DEV_UVM] = "/dev/nvidia-uvm",
		[GT_DEV_UVM_TOOLS] = "/dev/nvidia-uvm-tools",
		[GT_DEV_MODESET] = "/dev/nvidia-modeset",
	};
	uint64_t kind = file >> 32;

	if (kind < sizeof(named) / sizeof(*named) && named[kind])
		snprintf(to, size, "%s", named[kind]);
	else if (kind == GT_DEV_GPU)
		snprintf(to, size, "/dev/nvidia%" PRIu32, (uint32_t)file);
	else if (kind == GT_DEV_CAPS)
		snprintf(to, size, "/dev/nvidia-caps/nvidia-cap%" PRIu32, (uint32_t)file);
	else
		snprintf(to, size, "device 0x%" PRIx64, file);
}

/* Reads the digits behind `word`. False: the text is not the word and at least one digit. */
static bool has_number(const char *text, size_t len, const char *word, uint32_t *number)
{
	size_t at = strlen(word);

	if (len <= at || len > at + 9 || memcmp(text, word, at))
		return false;
	for (*number = 0; at < len; at++) {
		if (text[at] < '0' || text[at] > '9')
			return false;
		*number = *number * 10 + (uint32_t)(text[at] - '0');
	}
	return true;
}

/* Moves *path behind `word`. */
static bool skip_prefix(const char **path, size_t *len, const char *word)
{
	size_t n = strlen(word);

	if (*len < n || memcmp(*path, word, n))
		return false;
	*path += n;
	*len -= n;
	return true;
}

uint64_t gt_ioctl_file_of_path(const char *path, size_t len)
{
	static const struct {
		const char *name;
		uint64_t file;
	} single[] = {
		{ "nvidiactl", (uint64_t)GT_DEV_CTL << 32 | 255 },
		{ "nvidia-uvm", (uint64_t)GT_DEV_UVM << 32 },
		{ "nvidia-uvm-tools", (uint64_t)GT_DEV_UVM_TOOLS << 32 | 1 },
		{ "nvidia-modeset", (uint64_t)GT_DEV_MODESET << 32 | 254 },
	};
	uint32_t number;

	if (!skip_prefix(&path, &len, "/dev/") && !skip_prefix(&path, &len, "/memfd:sim:"))
		return 0;
	for (size_t i = 0; i < sizeof(single) / sizeof(*single); i++)
		if (len == strlen(single[i].name) && !memcmp(path, single[i].name, len))
			return single[i].file;
	if (has_number(path, len, "nvidia-caps/nvidia-cap", &number))
		return (uint64_t)GT_DEV_CAPS << 32 | number;
	return has_number(path, len, "nvidia", &number) ? (uint64_t)GT_DEV_GPU << 32 | number : 0;
}

static void rm_name(char *to, size_t size, uint64_t request, uint64_t command)
{
	uint64_t nr = request & 0xff;
	const char *escape = (request >> 8 & 0xff) == 'F' ? FIND(escapes, nr) : NULL, *what = NULL;

	if (nr == RM_CONTROL)
		what = FIND(controls, command);
	else if (nr == RM_ALLOC)
		what = FIND(classes, command);
	if (!escape)
		snprintf(to, size, "ioctl 0x%" PRIx64, request);
	else if ((nr != RM_CONTROL && nr != RM_ALLOC) || command == GT_IOCTL_ANY)
		snprintf(to, size, "ioctl %s", escape);
	else if (what)
		snprintf(to, size, "ioctl %s %s", escape, what);
	else
		snprintf(to, size, "ioctl %s 0x%" PRIx64, escape, command);
}

void gt_ioctl_name(char *to, size_t size, uint64_t file, uint64_t request, uint64_t command)
{
	uint64_t kind = file >> 32;
	const char *name;

	if (kind == GT_DEV_CTL || kind == GT_DEV_GPU) {
		rm_name(to, size, request, command);
		return;
	}
	name = kind == GT_DEV_UVM || kind == GT_DEV_UVM_TOOLS ? FIND(uvm, request) : NULL;
	if (name)
		snprintf(to, size, "ioctl %s", name);
	else
		snprintf(to, size,
			kind == GT_DEV_UVM || kind == GT_DEV_UVM_TOOLS ? "ioctl UVM 0x%" PRIx64
				: kind == GT_DEV_CAPS                  ? "ioctl caps 0x%" PRIx64
				: kind == GT_DEV_MODESET               ? "ioctl modeset 0x%" PRIx64
								       : "ioctl 0x%" PRIx64,
			request);
}
