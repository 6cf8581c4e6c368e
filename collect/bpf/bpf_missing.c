/* Stands in for bpf_way.c where gtcollect is built without clang or libbpf. */
#include "collect/bpf/bpf_way.h"

#include <errno.h>
#include "collect/bpf/kernel/kernel_features.h"

const struct gt_kernel_feature gt_kernel_features[] = { { NULL, NULL, false } };
bool gt_kernel_feature_is_there(const struct gt_kernel_feature *f, char *text, size_t size)
{
	return false;
}

bool gt_bpf_way_is_allowed(void) { return false; }

struct gt_bpf_way *gt_bpf_way_open(const struct gt_bpf_way_options *opt, struct gt_err *err)
{
	gt_err_set(err, -ENOSYS,
		"this gtcollect was built without eBPF: clang, libbpf-dev and libelf-dev were missing");
	return NULL;
}

int gt_bpf_way_start(struct gt_bpf_way *b, pid_t pid, struct gt_err *err) { return -ENOSYS; }

int gt_bpf_way_attach(struct gt_bpf_way *b, pid_t pid, struct gt_err *err) { return -ENOSYS; }

int gt_bpf_way_attach_all(struct gt_bpf_way *b, struct gt_err *err) { return -ENOSYS; }

struct gt_ring_writer *gt_bpf_way_writer(struct gt_bpf_way *b) { return NULL; }

const char *gt_bpf_way_missing(const struct gt_bpf_way *b, unsigned i) { return NULL; }

int gt_bpf_way_check(const struct gt_bpf_way *b, struct gt_err *err) { return -ENOSYS; }

int gt_bpf_way_check_usdt(const struct gt_bpf_way *b, struct gt_err *err) { return -ENOSYS; }

void gt_bpf_way_drop_rights(const struct gt_bpf_way *b) {}

void gt_bpf_way_set_window(struct gt_bpf_way *b, int64_t from, int64_t until) {}

int gt_bpf_way_fd(const struct gt_bpf_way *b) { return -1; }

void gt_bpf_way_take_events(struct gt_bpf_way *b) {}

pid_t gt_bpf_way_stuck(const struct gt_bpf_way *b) { return 0; }

void gt_bpf_way_drain(struct gt_bpf_way *b, uint64_t until) {}

void gt_bpf_way_totals(const struct gt_bpf_way *b, struct gt_bpf_way_totals *t)
{
	*t = (struct gt_bpf_way_totals){ 0 };
}

void gt_bpf_way_stop(struct gt_bpf_way *b) {}

void gt_bpf_way_close(struct gt_bpf_way *b) {}

bool gt_bpf_way_doctor(FILE *to)
{
	struct gt_err err = GT_ERR_INIT;

	gt_bpf_way_open(NULL, &err);
	fputs(err.text, to);
	return false;
}
