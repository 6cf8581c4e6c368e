/* Numbers of fields in Perfetto's messages, as far as gt writes or reads them. They are those of
 * https://github.com/google/perfetto, protos/perfetto/trace. */
#ifndef GT_PERFETTO_FIELDS_H
#define GT_PERFETTO_FIELDS_H

enum { GT_TRACE_PACKET = 1 };

enum gt_packet_field { /* TracePacket */
	GT_PACKET_USER = 3,
	GT_PACKET_CLOCKS = 6,
	GT_PACKET_TIMESTAMP = 8,
	GT_PACKET_SEQUENCE = 10,
	GT_PACKET_EVENT = 11,
	GT_PACKET_INTERNED = 12,
	GT_PACKET_FLAGS = 13,
	GT_PACKET_CONFIG = 33,
	GT_PACKET_MARKER = 36,
	GT_PACKET_PROCESS = 43, /* old: ProcessDescriptor, ThreadDescriptor of the sequence */
	GT_PACKET_THREAD = 44,
	GT_PACKET_OLD_CLEARED = 41,
	GT_PACKET_DROPPED = 42,  /* packets of the sequence before this one are lost */
	GT_PACKET_DEFLATED = 50, /* packets */
	GT_PACKET_GPU_COUNTERS = 52,
	GT_PACKET_RENDER_STAGE = 53,
	GT_PACKET_CLOCK = 58,
	GT_PACKET_DEFAULTS = 59,
	GT_PACKET_TRACK = 60,
	GT_PACKET_GPU_MEMORY = 71,
	GT_PACKET_UI_STATE = 78,
	GT_PACKET_FIRST = 87,
	GT_PACKET_UUID = 89,
	GT_PACKET_ATTRIBUTES = 126,
	GT_PACKET_ZSTD = 133,
	GT_PACKET_NUMBERS = 200 /* larger than all numbers but that of tests, 900 */
};
enum { GT_PACKET_CLEARED = 1, GT_PACKET_NEEDS_STATE = 2 }; /* sequence_flags */

enum gt_clock_field { /* ClockSnapshot, and Clock within it */
	GT_CLOCKS_CLOCK = 1,
	GT_CLOCKS_PRIMARY = 2,
	GT_CLOCK_ID = 1,
	GT_CLOCK_TIME = 2,
	GT_CLOCK_INCREMENTAL = 3,
	GT_CLOCK_UNIT = 4 /* ns */
};
enum gt_clock_id {
	GT_CLOCK_REALTIME = 1,
	GT_CLOCK_MONOTONIC = 3,
	GT_CLOCK_BOOTTIME = 6,
	GT_CLOCK_OWN = 64 /* the first one of a sequence's own */
};
enum gt_defaults_field { GT_DEFAULTS_EVENT = 11, GT_DEFAULTS_CLOCK = 58 };

enum gt_track_field { /* TrackDescriptor */
	GT_TRACKS_UUID = 1,
	GT_TRACKS_NAME = 2,
	GT_TRACKS_PROCESS = 3,
	GT_TRACKS_THREAD = 4,
	GT_TRACKS_PARENT = 5,
	GT_TRACKS_COUNTER = 8,
	GT_TRACKS_STATIC_NAME = 10,
	GT_TRACKS_CHILD_ORDER = 11, /* 3: by rank */
	GT_TRACKS_RANK = 12,
	GT_TRACKS_PROCESS_ORDER = 19, /* 1: by rank, of the track 0 */
	GT_TRACKS_THREAD_ORDER = 20   /* 1: by rank, of a process */
};
enum gt_process_field { GT_PROCESS_PID = 1, GT_PROCESS_NAME = 6 };
enum gt_thread_field { GT_THREAD_PID = 1, GT_THREAD_TID = 2, GT_THREAD_NAME = 5 };
enum gt_counter_field { GT_COUNTERS_UNIT = 3, GT_COUNTERS_MULTIPLIER = 4, GT_COUNTERS_DELTA = 5 };
enum { GT_COUNTERS_BYTES = 3 }; /* unit */

enum gt_event_field { /* TrackEvent */
	GT_EVENT_CATEGORY_IID = 3,
	GT_EVENT_ARG = 4,
	GT_EVENT_LEGACY = 6,
	GT_EVENT_TYPE = 9,
	GT_EVENT_NAME_IID = 10,
	GT_EVENT_TRACK = 11,
	GT_EVENT_CATEGORY = 22,
	GT_EVENT_NAME = 23,
	GT_EVENT_VALUE = 30,
	GT_EVENT_LOCATION_IID = 34,
	GT_EVENT_OLD_FLOW = 36,
	GT_EVENT_OLD_FLOW_END = 42,
	GT_EVENT_DOUBLE = 44,
	GT_EVENT_FLOW = 47,
	GT_EVENT_FLOW_END = 48,
	GT_EVENT_CORRELATION = 52,
	GT_EVENT_STACK = 55,
	GT_EVENT_STACK_IID = 56,
	GT_EVENT_GPU = 3000 /* GpuCorrelation: field 1 has event ids of render stages */
};
enum gt_event_type { GT_EVENT_BEGIN = 1, GT_EVENT_END, GT_EVENT_INSTANT, GT_EVENT_COUNTER };

enum gt_arg_field { /* DebugAnnotation */
	GT_ARG_NAME_IID = 1,
	GT_ARG_BOOL = 2,
	GT_ARG_UINT = 3,
	GT_ARG_INT = 4,
	GT_ARG_DOUBLE = 5,
	GT_ARG_STRING = 6,
	GT_ARG_POINTER = 7,
	GT_ARG_NESTED = 8,
	GT_ARG_JSON = 9,
	GT_ARG_NAME = 10,
	GT_ARG_ENTRIES = 11, /* of a dictionary */
	GT_ARG_VALUES = 12,  /* of an array */
	GT_ARG_STRING_IID = 17
};

enum gt_perfetto_interned { /* InternedData; an entry has its iid as field 1 */
	GT_INTERNED_CATEGORIES = 1,
	GT_INTERNED_NAMES = 2,
	GT_INTERNED_ARG_NAMES = 3,
	GT_INTERNED_LOCATIONS = 4,
	GT_INTERNED_FUNCTIONS = 5,
	GT_INTERNED_FRAMES = 6,
	GT_INTERNED_STACKS = 7,
	GT_INTERNED_BUILD_IDS = 16,
	GT_INTERNED_PATHS = 17, /* of mapped files */
	GT_INTERNED_SOURCES = 18,
	GT_INTERNED_MAPPINGS = 19,
	GT_INTERNED_CONTEXTS = 23, /* of graphics or compute: field 2 is the pid */
	GT_INTERNED_SPECS = 24,    /* of render stages and hardware queues */
	GT_INTERNED_STRINGS = 29,
	GT_INTERNED_COUNTERS = 47, /* descriptors of GPU counters */
	GT_INTERNED_KERNELS = 1000,
	GT_INTERNED_LAUNCH_ARGS = 1001 /* names */
};
enum { GT_INTERNED_IID = 1, GT_INTERNED_TEXT = 2 };
enum gt_location_field { GT_LOCATION_FILE = 2, GT_LOCATION_FUNCTION = 3, GT_LOCATION_LINE = 4 };
enum gt_mapping_field { GT_MAPPING_BUILD_ID = 2, GT_MAPPING_PATH = 7 };
enum gt_frame_field {
	GT_FRAMES_FUNCTION = 2,
	GT_FRAMES_MAPPING = 3,
	GT_FRAMES_PC = 4,
	GT_FRAMES_SOURCE = 5,
	GT_FRAMES_LINE = 6,
	GT_FRAMES_KIND = 7,
	GT_FRAMES_KIND_TEXT = 8
};
enum gt_frame_kind_value { GT_FRAMES_NATIVE = 1, GT_FRAMES_KERNEL = 2, GT_FRAMES_INTERPRETED = 3 };
enum gt_stack_field { GT_STACKS_FRAME = 2 };
enum gt_attribute_field {
	GT_ATTRIBUTES_ONE = 1,
	GT_ATTRIBUTE_KEY = 1,
	GT_ATTRIBUTE_LONG = 2,
	GT_ATTRIBUTE_STRING = 3
};

enum gt_render_field { /* GpuRenderStageEvent */
	GT_RENDER_ID = 1,
	GT_RENDER_DURATION = 2, /* ns */
	GT_RENDER_OLD_QUEUE = 3,
	GT_RENDER_OLD_STAGE = 4,
	GT_RENDER_CONTEXT = 5,
	GT_RENDER_EXTRA = 6, /* name and value, both texts */
	GT_RENDER_SPECS = 7,
	GT_RENDER_GPU = 11,
	GT_RENDER_QUEUE = 13,
	GT_RENDER_STAGE = 14,
	GT_RENDER_NAME = 17,
	GT_RENDER_KERNEL = 19,
	GT_RENDER_NAME_IID = 20,
	GT_RENDER_LAUNCH = 21
};
enum gt_launch_field { GT_LAUNCH_GRID = 1, GT_LAUNCH_BLOCK = 2, GT_LAUNCH_ARG = 3 };
enum gt_launch_arg_field { /* ExtraComputeArg */
	GT_LAUNCH_ARG_NAME_IID = 1,
	GT_LAUNCH_ARG_NAME = 2,
	GT_LAUNCH_ARG_INT = 3,
	GT_LAUNCH_ARG_UINT = 4
};
/* Interned specification, and kernel; the specification's category of render stages */
enum gt_render_spec_field { GT_RENDER_SPEC_NAME = 2, GT_RENDER_SPEC_CATEGORY = 4 };
enum gt_render_category { GT_RENDER_OTHER, GT_RENDER_GRAPHICS, GT_RENDER_COMPUTE };
enum gt_kernel_field { GT_KERNEL_NAME = 2, GT_KERNEL_DEMANGLED = 3 };
enum gt_old_specs_field { GT_OLD_SPECS_QUEUE = 2, GT_OLD_SPECS_STAGE = 3 };
enum gt_gpu_counter_field { /* GpuCounterEvent, GpuCounter within it */
	GT_GPU_COUNTERS_SPECS = 1,
	GT_GPU_COUNTERS_COUNTER = 2,
	GT_GPU_COUNTERS_GPU = 3,
	GT_GPU_COUNTERS_SPECS_IID = 4,
	GT_GPU_COUNTER_ID = 1,
	GT_GPU_COUNTER_INT = 2,
	GT_GPU_COUNTER_DOUBLE = 3,
	GT_GPU_COUNTER_NAME = 2, /* of its specification */
	/* InternedGpuCounterDescriptor */
	GT_GPU_DESCRIPTOR_SPECS = 2,
	GT_GPU_DESCRIPTOR_GPU = 3
};
enum gt_gpu_memory_field { GT_GPU_MEMORY_GPU = 1, GT_GPU_MEMORY_PID = 2, GT_GPU_MEMORY_SIZE = 3 };
/* An attribute of gt's with this prefix is a key of Kineto's files; its value is JSON. */
#define GT_PERFETTO_KINETO "gt.kineto."
#endif
