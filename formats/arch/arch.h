/* What differs between processors, one file each: the tick counter, and for the preloaded library a
 * tail jump, probes and (optional) the fast path of most wrappers in assembly. */
#ifndef GT_ARCH_H
#define GT_ARCH_H
#if defined(__x86_64__)
#include "formats/arch/arch_x86_64.h"
#elif defined(__aarch64__)
#include "formats/arch/arch_aarch64.h"
#else
#error "gt knows x86-64 and aarch64; write formats/arch_<yours>.h"
#endif
#endif
