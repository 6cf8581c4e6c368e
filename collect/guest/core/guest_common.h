/* Macros and rules of all code that runs inside the traced program.
 *
 * libgtpreload.so stands between a program and its CUDA driver. The program reaches a driver
 * function in one of three ways: its own linkage, dlsym, or cuGetProcAddress. On each way it gets a
 * wrapper (generated from formats/cuda/cuda_api.def). The wrapper reads the clock, calls the real
 * function, reads the clock again, and writes a record into memory that gtcollect reads (ring.h).
 *
 * Each module has a header of its name with its contract:
 *
 *   core/guest_session     connects to gtcollect; state of the process and of each thread
 *   core/guest_ring        entry and exit of a call; records, losses, texts
 *   core/guest_fast_path   the short code path of most calls
 *   core/guest_wrap        the macros that a wrapper consists of
 *   core/guest_args        argument words; names of kernels
 *   core/guest_hooks       functions of cupti, events and nvtx that core and the wrappers call
 *   core/guest_system      memory, short files, texts, clocks, without libc's help
 *   core/guest_objects     list of the loaded libraries
 *   core/guest_elf         symbols of the loaded libraries, read without the loader
 *   core/guest_resolve     dlsym and cuGetProcAddress return wrappers
 *   core/guest_ioctl       wrappers of ioctl, open, close, mmap: the driver's files
 *   core/guest_exec        wrappers of exec and abort: fetch CUPTI's remaining records first
 *   cupti/                 GPU times from CUPTI; other users of CUPTI; --inject; USDT probes;
 *                          graph nodes
 *   events/                GPU times from CUDA events where CUPTI is missing
 *   nvtx/                  NVTX annotations of the program
 *
 * RULES. The code is a guest in another program: no malloc, no lock, no stdio, no exit; nothing of
 * libc newer than 2.17; errno is preserved. Before the first driver call it only looks up functions
 * of libc. Without gtcollect it does nothing more. A failure of the guest means "not traced, and
 * counted", never an error of the program.
 *
 * FORK. All state of one process lies in one mapping that the kernel clears in a forked child
 * (MADV_WIPEONFORK). The child's first call finds no ring, takes the slow path, and registers as a
 * process of its own. It never touches the parent's rings. Another thread of the parent may have
 * held any lock at the fork, and no thread unlocks it in the child. So nothing that runs in a
 * forked child takes a lock of libc or of the loader (guest_objects.c). The start of CUPTI takes
 * such locks: gt_locks_are_free tests them before, in a thread of its own. */
#ifndef GT_GUEST_COMMON_H
#define GT_GUEST_COMMON_H
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define GT_EXPORT __attribute__((visibility("default")))
#define gt_likely(x) __builtin_expect(!!(x), 1)
#define gt_unlikely(x) __builtin_expect(!!(x), 0)
#define GT_TLS __attribute__((tls_model("initial-exec")))
#endif
