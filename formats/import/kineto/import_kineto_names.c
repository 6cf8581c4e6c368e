/* What the names of GPU work say: "Memcpy HtoD (Pageable -> Device)", "Stream Wait Event". */
#define _GNU_SOURCE
#include "formats/import/kineto/import_kineto.h"

#include <strings.h>

/* "Memcpy HtoD (Pageable -> Device)", of wprof "memcpy:HtoD". A is an array, which is on a device.
 */
enum gt_direction gt_kineto_direction(const char *name)
{
	static const struct {
		const char *word;
		enum gt_direction direction;
	} words[] = {
		{ "HtoD", GT_DIR_HTOD },
		{ "DtoH", GT_DIR_DTOH },
		{ "DtoD", GT_DIR_DTOD },
		{ "PtoP", GT_DIR_PEER },
		{ "HtoH", GT_DIR_HTOH },
		{ "HtoA", GT_DIR_HTOD },
		{ "AtoH", GT_DIR_DTOH },
		{ "AtoA", GT_DIR_DTOD },
		{ "AtoD", GT_DIR_DTOD },
		{ "DtoA", GT_DIR_DTOD },
	};
	const char *p = strpbrk(name, " :");

	for (size_t i = 0; p && i < sizeof(words) / sizeof(*words); i++)
		if (!strncmp(p + 1, words[i].word, 4))
			return words[i].direction;
	return GT_DIR_UNKNOWN;
}

/* The kind of memory with the word from p to `end`. */
static enum gt_gpu_memory memory_of(const char *p, const char *end)
{
	for (unsigned m = 0; m < GT_GPU_MEMORY_COUNT; m++) {
		const char *word = gt_gpu_memory_word(m);

		if (strlen(word) == (size_t)(end - p) && !strncasecmp(word, p, (size_t)(end - p)))
			return (enum gt_gpu_memory)m;
	}
	return GT_GPU_MEM_UNKNOWN;
}

void gt_kineto_memories(const char *name, enum gt_gpu_memory *src, enum gt_gpu_memory *dst)
{
	const char *from = strchr(name, '('), *arrow = from ? strstr(from, " -> ") : NULL,
		   *end = from ? strrchr(from, ')') : NULL;

	*src = *dst = GT_GPU_MEM_UNKNOWN;
	if (arrow && end > arrow) {
		*src = memory_of(from + 1, arrow);
		*dst = memory_of(arrow + 4, end);
	} else if (end) {
		*dst = memory_of(from + 1, end);
	}
}

enum gt_gpu_wait gt_kineto_wait_kind(const char *name)
{
	if (strcasestr(name, "stream") && strcasestr(name, "event"))
		return GT_GPU_WAIT_STREAM_EVENT;
	return strcasestr(name, "event")                                    ? GT_GPU_WAIT_EVENT
		: strcasestr(name, "stream")                                ? GT_GPU_WAIT_STREAM
		: strcasestr(name, "context") || strcasestr(name, "device") ? GT_GPU_WAIT_CONTEXT
									    : GT_GPU_WAIT_UNKNOWN;
}

uint32_t gt_kineto_overhead_kind(const char *name)
{
	/* CUPTI's numbers; see gt_gpu_put_overhead */
	static const struct {
		const char *word;
		uint32_t kind;
	} words[] = {
		{ "Buffer Flush", 1 << 16 },
		{ "Instrumentation", 2 << 16 },
		{ "Resource", 3 << 16 },
		{ "Module Loading", 4 << 16 },
		{ "Lazy Function", 5 << 16 },
		{ "Command Buffer", 6 << 16 },
		{ "Buffer Request", 7 << 16 },
		{ "Unified Memory", 8 << 16 },
		{ "Compiler", 1 },
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strcasestr(name, words[i].word))
			return words[i].kind;
	return 0;
}
