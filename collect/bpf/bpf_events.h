/* What the BPF programs (programs/) and gtcollect share: the plan of a function, which the
 * programs read, and the record of a call, which they write.
 *
 * The programs copy bytes and decide nothing: parameter words at the entry of the function, and
 * memory that parameters point to, when the function returns. call_plan.c makes argument words
 * of them, by the same table as the guest (gt_api_fields). */
#ifndef GT_BPF_EVENTS_H
#define GT_BPF_EVENTS_H
#ifndef __bpf__
#include <stdint.h>
#define GT_U8 uint8_t
#define GT_U16 uint16_t
#define GT_U32 uint32_t
#define GT_U64 uint64_t
#else
#define GT_U8 __u8
#define GT_U16 __u16
#define GT_U32 __u32
#define GT_U64 __u64
#endif
#include "collect/ipc/probe_fields.h"
#include "collect/ipc/process_filter.h"

#define GT_BPF_FUNCTIONS 1024 /* GT_API_MAX */
#define GT_BPF_WORDS 12       /* parameters that are copied: six registers, then the stack */
#define GT_BPF_FETCHES 4      /* pieces of memory of one call */
#define GT_BPF_FETCH_MAX 256  /* bytes of a piece */
#define GT_BPF_DEPTH 4        /* nested calls of one thread */

#define GT_BPF_LIBRARIES 4
#define GT_BPF_LIBRARY_PREFIX 16

/* Bits of the values in the map of traced processes. */
#define GT_BPF_TRACED 1u
#define GT_BPF_HAS_PROBES 2u /* its children get them, too */
/* With a filter: its name matches, or it is the child of such a process and has no other name yet.
 * Without GT_BPF_TRACED it was traced before. */
#define GT_BPF_HAS_NAME 4u

/* Constants of the programs. */
struct gt_bpf_settings {
	GT_U8 all_processes;    /* else those in the map `traced` */
	GT_U8 requests;         /* record requests to the driver's files */
	GT_U8 scheduling;       /* record switches of threads */
	GT_U8 system_calls;     /* remember that of each thread */
	GT_U8 has_switch_state; /* sched_switch tells the state of the thread (Linux 5.18); else it
				   is read from the thread */
	GT_U8 has_task_storage; /* threads have storage of their own (Linux 5.12) */
	GT_U8 has_registers;    /* those of any thread can be read (Linux 5.15) */
	GT_U8 has_cookies;      /* programs get the number of their probe (Linux 5.15) */
	GT_U8 filters;          /* of all processes, those in the map `traced` */
	GT_U8 stop;             /* a process waits while gtcollect sets probes in new code */
	GT_U8 watches_loaders;  /* what processes map is learned from their loaders */
	GT_U8 only_user; /* only processes of `user`: gtcollect may not see those of others */
	GT_U32 user;
	/* gtcollect's, as the number of /proc/self/ns/pid; 0: the first one, of the machine */
	GT_U32 pid_namespace;
	GT_U32 recorder; /* gtcollect's process, which is not recorded */
	/* any file of a traced process may have probes; else those with such a prefix */
	GT_U8 any_file;
	GT_U8 nlibraries;
	char libraries[GT_BPF_LIBRARIES][GT_BPF_LIBRARY_PREFIX];
	struct gt_process_filter filter;
};

enum gt_bpf_fetch_what { GT_BPF_BYTES, GT_BPF_TEXT };

/* Memory at the address in a parameter. */
struct gt_bpf_fetch {
	GT_U8 param, what;
	GT_U16 bytes; /* at most; of a text with its zero */
};
/* Records of most calls have one of two sizes. So the programs write them into the ring in place.
 */
enum gt_bpf_size {
	GT_BPF_ANY_SIZE,
	GT_BPF_SMALL, /* GT_BPF_SMALL_WORDS, and at most one piece of GT_BPF_SMALL_PIECE bytes */
	GT_BPF_WIDE   /* GT_BPF_WORDS, and such a piece */
};
#define GT_BPF_SMALL_WORDS 4
#define GT_BPF_SMALL_PIECE 8
struct gt_bpf_plan {
	GT_U8 words; /* parameters to copy, from the first on */
	GT_U8 fetches;
	GT_U8 success; /* memory is read only if the function returns 0 */
	GT_U8 size;    /* enum gt_bpf_size */
	struct gt_bpf_fetch fetch[GT_BPF_FETCHES];
};

enum gt_bpf_kind {
	GT_BPF_CALL,
	GT_BPF_SCHED,
	GT_BPF_REQUEST,
	GT_BPF_OPEN_CALL,
	GT_BPF_EXEC /* a head only */,
	GT_BPF_EXIT,        /* of a process; a head only */
	GT_BPF_THREAD_EXIT, /* with scheduling; a head only */
	GT_BPF_PROBE,
	GT_BPF_TRACEPOINT
};

/* Each record begins with it. */
struct gt_bpf_head {
	GT_U64 start, end; /* ns of CLOCK_MONOTONIC */
	GT_U32 tgid, tid;  /* in the kernel's own pid namespace */
	char comm[16];
	GT_U32 kind, unused;
};

/* A call that has returned. Behind it lie parameter words, at least those that its plan needs, and
 * then the fetched memory; each piece begins at a whole word. A record in a ring may be longer. */
struct gt_bpf_call {
	struct gt_bpf_head head;
	GT_U16 id;   /* of the API table */
	GT_U8 depth; /* calls of the thread that were open around it */
	GT_U8 words;
	int ret;
	GT_U16 bytes[GT_BPF_FETCHES]; /* of each piece; 0: it could not be read */
};
#define GT_BPF_DATA (8 * GT_BPF_WORDS + GT_BPF_FETCHES * GT_BPF_FETCH_MAX)
struct gt_bpf_call_with_pieces {
	struct gt_bpf_call call;
	char data[GT_BPF_DATA];
};

/* A call that has not returned when its thread or the recording ends; of that time is `end`. */
struct gt_bpf_open_call {
	struct gt_bpf_call call;
	GT_U64 words[GT_BPF_WORDS];
};

/* A thread that did not run, from the switch-out to the switch-in. */
struct gt_bpf_sched {
	struct gt_bpf_head head;
	GT_U64 woken; /* ns; 0: nothing woke it */
	GT_U32 by_tgid,
		by_tid; /* the thread that woke it, or, if it was preempted, that runs instead */
	GT_U32 state;   /* of the kernel: 1 interruptible, 2 uninterruptible; 0: unknown */
	GT_U32 system_call; /* number, or GT_BPF_NO_SYSTEM_CALL */
	GT_U32 preempted, unused;
	GT_U64 argument; /* the first one of the system call; 0 before Linux 5.15 */
};
#define GT_BPF_NO_SYSTEM_CALL 0xffffffffu

/* A system call on a file that may be the driver's: ioctl, open, close, mmap. */
#define GT_BPF_REQUEST_BYTES 64
struct gt_bpf_request {
	struct gt_bpf_head head;
	GT_U32 system_call,
		device; /* number; the file's, as the kernel stores it: major << 20 | minor */
	long long ret;
	GT_U64 request, value; /* of ioctl; descriptor, or length of mmap */
	GT_U8 depth;           /* as of a call */
	GT_U8 is_memory_file;  /* the simulated driver's files are such; name: of the file */
	GT_U16 argument_bytes, body_bytes; /* copied */
	GT_U32 unused;
	char name[24];
	char argument[GT_BPF_REQUEST_BYTES]; /* of ioctl */
	char body[GT_BPF_REQUEST_BYTES]; /* what the argument's third word points to, of NV_XFER */
};

/* What the values of a probe are. gt_bpf_set_texts() sets texts and text_of. */
#define GT_BPF_PROBE_TEXTS 4      /* further texts remain addresses */
#define GT_BPF_PROBE_TEXT_MAX 256 /* bytes of a text, with its zero; a longer one is cut */
struct gt_bpf_probe_fields {
	GT_U8 n;                           /* values */
	GT_U8 fields[GT_PROBE_VALUES];     /* GT_PROBE_FIELD(kind, which) */
	GT_U8 texts;                       /* pieces of a record: 0, 1 or GT_BPF_PROBE_TEXTS */
	GT_U8 text_of[GT_BPF_PROBE_TEXTS]; /* the value that points to the text; else 255 */
	GT_U8 unused[2];
};
#ifndef __bpf__
/* After n and fields are set. */
static inline void gt_bpf_set_texts(struct gt_bpf_probe_fields *f)
{
	unsigned k = 0;

	for (unsigned i = 0; i < GT_BPF_PROBE_TEXTS; i++)
		f->text_of[i] = 255;
	for (uint8_t i = 0; i < f->n && k < GT_BPF_PROBE_TEXTS; i++)
		if (GT_PROBE_FIELD_KIND(f->fields[i]) == GT_PROBE_TEXT ||
			GT_PROBE_FIELD_KIND(f->fields[i]) == GT_PROBE_MAYBE_TEXT)
			f->text_of[k++] = i;
	f->texts = (uint8_t)(k > 1 ? GT_BPF_PROBE_TEXTS : k);
}
#endif
/* A hit of a probe: a point in time, or a call with its return. */
struct gt_bpf_probe {
	struct gt_bpf_head head;
	GT_U32 probe; /* number: gt_bpf_probe_add() */
	GT_U8 depth, is_range;
	GT_U16 piece; /* bytes of a text's piece */
	struct gt_bpf_probe_fields fields;
	GT_U32 unused;
	GT_U16 text_bytes[GT_BPF_PROBE_TEXTS]; /* with the zero; 0: it could not be read */
	/* a record without texts and with few values ends behind GT_BPF_PROBE_FEW */
	GT_U64 values[GT_PROBE_VALUES];
};
#define GT_BPF_PROBE_FEW 2
#define GT_BPF_PROBE_PIECE 64 /* of records whose texts are short */
struct gt_bpf_probe_with_texts {
	struct gt_bpf_probe probe;
	char text[GT_BPF_PROBE_TEXTS * GT_BPF_PROBE_TEXT_MAX]; /* the pieces */
};

/* A hit of a tracepoint of the kernel, as the kernel wrote it. Longer ones are cut. */
#define GT_BPF_TRACEPOINT_BYTES 256
struct gt_bpf_tracepoint {
	struct gt_bpf_head head;
	GT_U32 probe; /* number */
	GT_U32 bytes; /* copied */
	char data[GT_BPF_TRACEPOINT_BYTES];
};

/* A traced process has mapped a library, or is a new child with libraries. In the same ring are
 * heads that found no space in the ring of their CPU. */
struct gt_bpf_process_event {
	GT_U32 tgid, is_stopped; /* stopped: until gtcollect continues it */
};

/* A mapping of gtcollect, and the kernel's inode of its file; 0: it has none. */
struct gt_bpf_own_mapping {
	GT_U64 from, inode;
};

/* Of a file that has probes. IS_MAPPED: or it is not known. */
enum gt_file_use { GT_FILE_IS_MAPPED, GT_FILE_IS_UNMAPPED, GT_FILE_IS_DELETED /* and unmapped */ };

/* The cookie of a probe at a function that the user named. */
#define GT_BPF_ARGUMENTS 6 /* at most: those in registers */
#define GT_BPF_FUNCTION(probe, arguments, is_kernel)                                               \
	((GT_U64)(probe) | (GT_U64)(arguments) << 32 | (GT_U64)(is_kernel) << 40)
#define GT_BPF_FUNCTION_ARGUMENTS(cookie) ((GT_U32)((cookie) >> 32 & 0xff))
#define GT_BPF_FUNCTION_IS_KERNEL(cookie) ((cookie) >> 40 & 1)

/* The cookie of a group of probes (links/probe_group.h), with the number of the group. The lower
 * bits of the address tell which one of them it is; the group of the returns has no further
 * cookies. */
#define GT_BPF_GROUP (1ull << 63)
#define GT_BPF_PLACE_BITS 12 /* an offset in a page */

/* Where the value of a USDT probe's argument is. */
enum gt_bpf_operand { GT_BPF_CONSTANT, GT_BPF_REGISTER, GT_BPF_MEMORY };
#define GT_BPF_NO_REGISTER 255
struct gt_bpf_usdt_argument {
	GT_U64 constant;          /* or displacement, of memory */
	GT_U8 operand;            /* enum gt_bpf_operand */
	GT_U8 base, index, scale; /* registers: numbers of the instruction set; index << scale */
	GT_U8 shift;              /* of a register: the bits below the value */
	GT_U8 bits, is_signed, unused;
};
/* A place that fires a USDT probe. */
struct gt_bpf_usdt_site {
	GT_U32 probe; /* number */
	struct gt_bpf_probe_fields fields;
	struct gt_bpf_usdt_argument arguments[GT_PROBE_VALUES];
};

/* Records of one CPU that were lost, most because they did not fit into its ring. from: begin of
 * the last series without a gap of GT_BPF_LOSS_GAP. */
#define GT_BPF_LOSS_GAP 20000000 /* ns */
struct gt_bpf_loss {
	GT_U64 count, from, to; /* ns */
	GT_U64 unseen;          /* of them, waits whose end the kernel did not report */
};

/* Times that a process, a report of new code or a start or end found no space, on all CPUs. As
 * struct gt_process_losses. */
struct gt_bpf_process_losses {
	GT_U64 unrecorded, unprobed, events;
};
#endif
