/* Shared by trace_table_rows.c (rows that events make), trace_table_lists.c (rows that names make)
 * and trace_table_ids.c (numbers that both use): one export. */
#ifndef GT_TRACE_TABLES_INTERNAL_H
#define GT_TRACE_TABLES_INTERNAL_H
#include "formats/base/buf.h"
#include "formats/base/map.h"
#include "formats/export/chrome/chrome_launches.h"
#include "formats/export/tables/trace_tables.h"
#include "formats/names/kernel_names.h"

#define GT_NVTX_MARK 34
#define GT_NVTX_PUSH_POP 59
#define GT_NVTX_START_END 60
#define GT_CLASS_RUNTIME 0
#define GT_CLASS_DRIVER 1
#define GT_CLASS_OS 27

/* Numbers of one segment. */
struct gt_table_ids {
	int64_t base;        /* ns: its time 0 */
	uint32_t *strings;   /* by string: number in StringIds plus one; 0: not yet */
	int64_t *globals;    /* by track: globalTid or globalPid; 0: no process */
	uint32_t track_base; /* number of its first track in GT_TRACKS */
	uint32_t stack_base;
	struct gt_table_form **last; /* by type: form of its last row */
};
struct gt_table_form;
struct gt_table_work {
	struct gt_reader *r;
	uint64_t only; /* bit by table */
	gt_table_sink *sink;
	void *arg;
	struct gt_err *err;
	const struct gt_export_options *opt;
	struct gt_table_ids *ids; /* by segment */
	uint32_t nsegs;
	struct gt_string *strings; /* StringIds by number; borrowed texts */
	size_t nstrings, strings_cap;
	struct gt_map string_map;
	struct gt_kernel_names *demangled;
	struct gt_chrome_launches launches;
	struct gt_table_batch *batches[GT_TRACE_TABLES_MAX];
	struct gt_buf text; /* of the list that is being written */
	struct gt_table_form **forms;
	size_t nforms, forms_cap;
	struct gt_map form_map;
	char **owned; /* texts in StringIds that are no strings of the trace */
	size_t nowned, owned_cap;
};

static inline bool gt_table_is_wanted(const struct gt_table_work *w, uint32_t table)
{
	return w->only >> table & 1;
}
/* ---- trace_table_ids.c ---- */
int gt_table_ids_init(struct gt_table_work *w);
void gt_table_ids_release(struct gt_table_work *w);
/* The number of a text (which stays valid) in StringIds; GT_NONE with err filled in. */
uint32_t gt_table_text(struct gt_table_work *w, const char *text, size_t len);
static inline uint32_t gt_table_word(struct gt_table_work *w, const char *word)
{
	return gt_table_text(w, word, strlen(word));
}
/* The same for a text that does not stay valid. */
uint32_t gt_table_own_text(struct gt_table_work *w, const char *text);
/* The same for a string of a segment; GT_TABLE_NULL: there is no such string. */
int64_t gt_table_string(struct gt_table_work *w, const struct gt_segment *seg, uint64_t string);

/* ---- trace_table_rows.c ---- */
/* Where the next row of this table goes. NULL with err filled in. */
struct gt_table_batch *gt_table_batch_of(struct gt_table_work *w, uint32_t table);
int gt_table_flush(struct gt_table_work *w, uint32_t table);

/* ---- trace_table_lists.c ---- */
int gt_table_lists(struct gt_table_work *w);
#endif
