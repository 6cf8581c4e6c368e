/* Memory that the traced programs and gtcollect share. Records in it survive a process that dies at
 * any moment.
 *
 * gtcollect makes one sealed-size memory file for the whole tree of processes and reserves all of
 * it (fallocate) before its first use. It listens on a Unix socket (SOCK_STREAM) with two names:
 *
 *      FOLDER/sock        named by GT_SESSION=FOLDER:LIBRARY in the environment. Only the library
 *                         that is loaded as LIBRARY connects. A library of another gtcollect, which
 *                         runs around this one, does not
 *      @gt-session-PID    for a process without GT_SESSION: it tries the ids of its ancestors
 *
 * Each process, also a forked child, connects once, at its first traced call. It receives one byte
 * with the memory's descriptor (SCM_RIGHTS). By the socket's credentials gtcollect learns the
 * process id in its own namespace, and both sides learn the other's user, which must be the same
 * (or gtcollect's is root).
 *
 * Layout: struct gt_session, struct gt_ring_proc[nprocs], struct gt_ring_thread[nthreads], bits,
 * chunks.
 *
 * A thread owns a slot and a chain of chunks taken from one shared stack of free ones. It is the
 * only writer of both. The recorder is the only reader: it follows the chain and puts drained
 * chunks back on the stack. After a thread's first call, a call needs no lock and no system call,
 * except to wait under --lossless. Committed records are in memory that outlives the process: a
 * SIGKILL loses none.
 *
 *   entering a call:  open[depth] = { id, known arguments, start };
 *                     word = position << 8 | depth + 1
 *   leaving it:       record at position;
 *                     word = position' << 8 | depth;  open[depth].start = 0
 *
 * One store publishes both facts, so a reader sees a call either as open or as recorded. An open
 * call without a start has not begun yet, although a signal handler's call inside it may have. Both
 * sides rely on stores becoming visible in program order: plain stores on x86-64, release stores in
 * the code for every processor. */
#ifndef GT_RING_H
#define GT_RING_H
#include <stdint.h>
#include "collect/ipc/index_stack.h"
#include "collect/ipc/ring_events.h"
#include "formats/cuda/cuda_api.h"
#include "formats/cuda/driver_files.h"

#define GT_RING_SESSION "GT_SESSION" /* the variable */
/* ns between samples by timers of the threads (struct gt_session, sample_period), because the
 * process connects at its first sample only */
#define GT_RING_SAMPLES "GT_SAMPLE_PERIOD"
#define GT_RING_CONNECTED "fd:"        /* the process has this descriptor, which is connected */
#define GT_RING_ANCESTOR "gt-session-" /* an abstract socket, with gtcollect's process id */
#define GT_RING_MAGIC 0x31676e6972746721ULL
#define GT_RING_VERSION 12
/* calls nested deeper than this are counted, not recorded */
#define GT_RING_OPEN_MAX 16
#define GT_RING_OPEN_ARGS 5
#define GT_RING_CHUNK (32u << 10) /* default bytes of a chunk, header included */
#define GT_RING_NIL UINT32_MAX
#define GT_RING_NAME 256
#define GT_RING_PATH 4096 /* PATH_MAX */

/* Ids beyond the API table: other calls that the guest records. */
enum gt_ring_id {
	GT_ID_IOCTL = GT_API_MAX,
	GT_ID_OPEN,
	GT_ID_CLOSE,
	GT_ID_MMAP,
	GT_ID_MUNMAP,
	GT_IDS
};

enum gt_gate { GT_GATE_OFF, GT_GATE_ON, GT_GATE_SAMPLE };
enum gt_stack_of {
	GT_STACK_NOT,
	GT_STACK_TAKEN,
	/* the call waits anyway: it may wait a millisecond for rules to unwind a new stack, because
	 * it may be a call that never returns */
	GT_STACK_WHOLE
};
enum gt_args_mode { GT_ARGS_NONE, GT_ARGS_KEY, GT_ARGS_ALL };
enum gt_range_mode {
	GT_RANGE_ALWAYS,
	GT_RANGE_PROFILER, /* only between cuProfilerStart and cuProfilerStop */
	GT_RANGE_NVTX      /* only inside push and pop of range_name */
};
enum gt_detach {
	GT_DETACH_NOT,
	GT_DETACH_SOON, /* guests fetch CUPTI's records every 10 ms, to have those of the last calls
			 */
	GT_DETACH_NOW
};
enum gt_gpu_timing {
	GT_TIMING_AUTO, /* CUPTI, or CUDA events where CUPTI is missing */
	GT_TIMING_CUPTI,
	GT_TIMING_EVENTS
};
enum gt_gpu_more {
	GT_GPU_MORE_RUNTIME = 1, /* calls of the CUDA runtime */
	GT_GPU_MORE_MANAGED = 2, /* migrations and faults of managed memory */
	GT_GPU_MORE_OVERHEAD = 4 /* CUPTI's own cost */
};

/* Sets of bits, one bit per slot. NEW: a guest sets it when its slot has become LIVE; the
 * recorder clears it and reads the slot, so it finds new slots among many. USED: the recorder
 * sets it while it reads the slot; no guest takes such a slot, even if a damaged state says that
 * it is free. */
enum gt_ring_bits {
	GT_BITS_NEW_PROCS,
	GT_BITS_NEW_THREADS,
	GT_BITS_USED_PROCS,
	GT_BITS_USED_THREADS,
	GT_BITS
};

/* What samples by timers miss. */
struct gt_sampling_failures {
	uint32_t refused; /* threads for which the kernel has made no timer */
	uint32_t blocked; /* threads that have blocked the signal */
	uint32_t taken;   /* processes that use the signal themselves */
	uint32_t limited; /* processes that forbid system calls to themselves */
};

struct gt_session {
	uint64_t magic;
	uint32_t version;
	uint32_t bytes_of_this; /* sizeof; a library of another build does not attach */
	uint64_t bytes;         /* of the whole memory */
	uint64_t procs_at, threads_at, chunks_at; /* offsets */
	/* see enum gt_ring_bits: offset of the first, size of each */
	uint64_t bits_at, bits_bytes;
	uint32_t nprocs, nthreads, nchunks, chunk_bytes;
	/* settings, constant after start */
	/* 1: records carry gt_ticks(); 0: clock_gettime(CLOCK_MONOTONIC) in ns */
	uint32_t ticks;
	uint32_t args;     /* enum gt_args_mode */
	uint32_t lossless; /* a full ring waits instead of dropping */
	uint32_t range;    /* enum gt_range_mode */
	/* GT_GATE_SAMPLE records 1 call in this many, per name and thread */
	uint32_t sample;
	uint32_t ioctls;     /* interpose ioctl, open, close, mmap */
	uint32_t gpu;        /* record GPU work */
	uint32_t gpu_timing; /* enum gt_gpu_timing: source of GPU times */
	/* further records, if GPU work is recorded: bits of enum gt_gpu_more */
	uint32_t gpu_more;
	/* not all calls that make a GPU work are recorded (delay, range, filter ...) */
	uint32_t partly;
	uint32_t nvtx; /* record annotations */
	/* drivers load the library by injection, and CUPTI's callbacks report calls */
	uint32_t inject;
	char range_name[GT_RING_NAME]; /* of GT_RANGE_NVTX */
	/* ns of a thread's processor time from one sample by its timer to the next; 0: there are no
	 * such samples */
	uint64_t sample_period;
	/* --cupti: the library to load for it; empty: found by name */
	char cupti[GT_RING_PATH];
	/* bytes of chunks one thread may hold at a time (--ring-size) */
	uint64_t ring_max;
	uint8_t gate[(GT_IDS + 7) & ~7]; /* enum gt_gate by id; constant */
	/* enum gt_stack_of by id: do calls carry their stack? `stacks`: some do */
	uint8_t stack_of[(GT_IDS + 7) & ~7];
	uint32_t stacks;
	/* written by the recorder */
	/* 0 while --delay runs or after --duration: calls pass untraced; see gt_ring_open.pass */
	uint32_t recording __attribute__((aligned(64)));
	/* a robust futex word of gtcollect's main thread. When gtcollect dies for any reason, the
	 * kernel sets FUTEX_OWNER_DIED in it at once, and every guest stops recording */
	uint32_t owner;
	/* futex: the recorder adds one and wakes after it freed chunks while waiters != 0 */
	uint32_t space;
	uint32_t waiters; /* guests asleep under --lossless */
	/* futex, enum gt_detach: for guests that were loaded into running programs */
	uint32_t detach;
	/* written by the recorder and by guests */
	/* stack of free chunks: tag << 32 | chunk index (GT_RING_NIL: empty) */
	uint64_t free_head __attribute__((aligned(64)));
	uint32_t free_count;             /* about how many are left */
	uint32_t thread_hint, proc_hint; /* where to start looking for a free slot */
	/* guests that were loaded into running programs, have connected, and have not ended */
	uint32_t attached;
	/* calls that passed untraced because a table or the memory was full */
	uint64_t untraced;
	struct gt_sampling_failures unsampled;
	/* processes that could not start the thread that makes rules for native stacks */
	uint32_t unhelped;
};

/* A ring of a thread that makes calls, or of one that writes records of others' work (CUPTI's
 * thread). */
enum gt_ring_role { GT_RING_CALLER, GT_RING_PRODUCER };

/* Threads that the guest or CUPTI has started in the program. */
#define GT_RING_STARTED_THREADS 8u /* of a process; more are taken for the program's */
enum gt_thread_starter { GT_STARTED_BY_GUEST = 1, GT_STARTED_BY_CUPTI };

enum gt_slot_state {
	GT_SLOT_FREE,
	GT_SLOT_TAKEN, /* being filled in */
	GT_SLOT_LIVE,
	GT_SLOT_DONE /* the guest is done with it */
};

struct gt_ring_proc {
	/* FREE -> TAKEN -> LIVE by the guest, -> FREE by the recorder when the process is gone and
	 * drained */
	uint32_t state;
	int32_t pid; /* own namespace */
	int32_t ppid;
	uint32_t generation; /* rises with each use of the slot */
	/* set by the recorder from the socket's credentials; 0 until then */
	int32_t host_pid;
	uint64_t start_ticks; /* when it attached */
	/* calls of this process that passed untraced (no slot, no chunk for a new thread) */
	uint64_t untraced;
	char comm[16];
	/* by the guest: enum gt_thread_starter << 32 | thread; 0: not filled in */
	uint32_t nstarted, unused;
	uint64_t started[GT_RING_STARTED_THREADS];
};

/* A call in progress. */
struct gt_ring_open {
	uint64_t start; /* ticks; 0: the entry is invalid, see above */
	uint16_t id;
	uint8_t nargs; /* values in args: the leading input fields of the call, if any */
	/* of open[0] only: 1 while calls are to pass untraced, like !recording, but on a line that
	 * each call touches anyway. Written by the recorder, and by the thread when it takes the
	 * slot */
	uint32_t pass;
	uint64_t args[GT_RING_OPEN_ARGS];
};

struct gt_ring_thread {
	uint32_t state;
	uint32_t proc; /* index into procs */
	uint32_t generation;
	int32_t tid; /* own namespace */
	/* first chunk of the chain; the recorder remembers where it is */
	uint32_t first;
	uint32_t role; /* enum gt_ring_role; constant while LIVE */
	/* at its first call; the recorder asks /proc for a later one */
	char name[16];
	uint64_t consumed; /* written by the recorder: position drained so far */
	uint32_t taken;    /* the chunk taken last: the chain may not lead to it yet */
	/* by the recorder; 1: the ring is damaged and not drained any more */
	uint32_t given_up;
	/* calls lost because no chunk was free */
	uint64_t dropped __attribute__((aligned(64)));
	/* ticks: start of the first, end of the last of all drops so far */
	uint64_t dropped_from, dropped_to;
	uint64_t deep;      /* calls nested too deep to record */
	uint64_t abandoned; /* calls left by longjmp or an exception */
	/* calls of a signal handler that came while a record was written */
	uint64_t in_handler;
	uint64_t sampled_out; /* calls that --sample left out */
	/* position << 8 | depth. The position counts bytes of chunk payload ever passed, including
	 * the unused tail of each left chunk. So payload p lies in the chain's chunk number p /
	 * payload_bytes, at p % payload_bytes */
	uint64_t word __attribute__((aligned(64)));
	/* the outermost one shares the word's cache line: all a call writes here */
	struct gt_ring_open open[GT_RING_OPEN_MAX];
};
_Static_assert(
	offsetof(struct gt_ring_thread, open) % 64 == 8, "the word and open[0] are one cache line");

_Static_assert(offsetof(struct gt_session, free_head) % 64 == 0, "a line of its own");

struct gt_ring_chunk { /* begins with its link in the stack of free ones (index_stack.h) */
	/* next in the owner's chain, or in the free stack; set before the position passes the end
	 */
	uint32_t next;
	uint32_t owner;    /* thread slot, GT_RING_NIL when free */
	uint64_t number;   /* how many chunks of its chain came before */
	uint8_t payload[]; /* chunk_bytes - 16 */
};

/* ---- records: 8-byte words in a chunk's payload; none straddles two chunks; a zero first word
 * ends the chunk ---- */
enum gt_rec_kind {
	/* start, end, id|nargs|kind|depth|ret, args: the fields of gt_api_fields that the mode
	   wants, in order */
	GT_REC_CALL,
	/* a handle has a name (kernel): start = handle, end = length in bytes, then the bytes,
	   zero-padded */
	GT_REC_NAME,
	/* a string argument: start = its gt_ring_hash, end = length, then the bytes; each once per
	   process */
	GT_REC_STRING,
	/* the program looked up a driver function that the table lacks: its name, like STRING */
	GT_REC_UNKNOWN_FUNCTION,
	GT_REC_EVENT, /* not a call: id is an enum gt_ring_event; see ring_events.h */
	/* Parts of stacks, like STRING; start: a number. CODE: of a code object of Python, by
	   thread: struct gt_rec_code and a piece of its line table. OBJECT: of a loaded library, by
	   process: struct gt_rec_object and its path. STACK: of a stack, by thread: a word for each
	   frame, innermost first, see GT_STACK_PYTHON */
	GT_REC_CODE,
	GT_REC_OBJECT,
	GT_REC_STACK,
	GT_REC_KINDS
};
struct gt_rec {
	uint64_t start, end; /* ticks; start is never 0 */
	uint16_t id;
	/* CALL, EVENT: number of words that follow. The other kinds: 0, and (end + 7) / 8 words
	 * follow, a text of up to 30 KiB */
	uint8_t nargs;
	uint8_t kind_depth; /* kind << 5 | depth (0..16) */
	int32_t ret;
	uint64_t args[];
};
_Static_assert(sizeof(struct gt_rec) == 24, "a record's head is three words");
_Static_assert(sizeof(struct gt_ring_open) == 56, "an open call is seven words");

/* In nargs of a call's record, and of an open call: the last of its words is the number of the
 * stack that it was called with. */
#define GT_REC_STACKED 0x80u
_Static_assert(GT_REC_KINDS <= 8 && GT_FIELDS_MAX < GT_REC_STACKED, "they have these bits");

struct gt_rec_code {
	uint32_t version, first_line; /* version of CPython: 0x030b is 3.11 */
	uint64_t name, file;          /* hashes of STRING records */
	uint32_t total, at;           /* bytes of the line table; where this piece begins */
};
struct gt_rec_object {
	uint64_t low, high, base; /* addresses; base: what the file's addresses are relative to */
	uint8_t build_id[20], nbuild_id, unused[3];
};
_Static_assert(sizeof(struct gt_rec_code) == 32 && sizeof(struct gt_rec_object) == 48,
	"these structs are whole words");
/* A frame: a return address, or a code object's number << 32 and the offset of its instruction
 * (python_frames.h), or a mark. */
#define GT_STACK_PYTHON (1ull << 62)
#define GT_STACK_MARK (2ull << 62)
#define GT_STACK_KIND (3ull << 62)
enum gt_frame_mark {
	GT_MARK_NATIVE_CUT,        /* further native frames are not known */
	GT_MARK_PYTHON_CUT,        /* there are more frames of Python */
	GT_MARK_PYTHON_UNREADABLE, /* a frame of Python, or all further ones, cannot be read */
	GT_MARK_PYTHON_UNKNOWN     /* frames of Python are missing: the interpreter is not known */
};

/* FNV-1a over the bytes; stands for a string among the argument words. 0 is NULL. */
static inline uint64_t gt_ring_hash(const char *s, uint32_t len)
{
	uint64_t h = 0xcbf29ce484222325ULL;

	for (uint32_t i = 0; i < len; i++)
		h = (h ^ (uint8_t)s[i]) * 0x100000001b3ULL;
	return h ? h : 1;
}

/* ---- argument words of calls on the driver's files ---- */
struct gt_ioctl_args {
	uint64_t file, request;
	uint64_t command; /* an RM control's command, or the class of an allocation; else 0 */
	uint64_t status;  /* of the driver; 0: success; UINT64_MAX: unknown */
};
/* open, close, mmap */
struct gt_file_args {
	uint64_t file;
	uint64_t value; /* descriptor; mmap: length */
};
_Static_assert(sizeof(struct gt_ioctl_args) == 32 && sizeof(struct gt_file_args) == 16,
	"arguments are words");
#endif
