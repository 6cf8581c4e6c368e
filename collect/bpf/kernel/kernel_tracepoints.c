#define _GNU_SOURCE
#include "collect/bpf/kernel/kernel_tracepoints.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "collect/bpf/bpf_state.h"
#include "collect/bpf/records/bpf_records.h"
#include "collect/bpf/kernel/tracefs.h"
#include "collect/probes/tracepoint_format.h"
#include "formats/cmdline/did_you_mean.h"
#include "formats/trace/record.h"

#define PAGE_FAULTS "exceptions:page_fault_user" /* of x86-64 */

struct tracepoint {
	uint32_t probe;
	struct gt_tracepoint_format format;
	int link; /* or negative */
};
struct gt_kernel_tracepoints {
	struct gt_bpf_way *way;
	struct tracepoint *list;
	size_t n, cap;
};

/* ---- their formats ---- */

/* "; similar is NAME", of the tracepoints of the same category. */
static void add_nearest(struct gt_err *err, int tracefs, const char *category, const char *name)
{
	struct gt_nearest nearest = GT_NEAREST(name);
	char path[160], best[64] = "";
	struct dirent *e;
	size_t n;
	DIR *d;
	int fd;

	snprintf(path, sizeof(path), "events/%s", category);
	fd = openat(tracefs, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	d = fd >= 0 ? fdopendir(fd) : NULL;
	while (d && (e = readdir(d))) {
		gt_nearest_try(&nearest, e->d_name);
		if (nearest.best == e->d_name) { /* it is borrowed */
			snprintf(best, sizeof(best), "%.63s", e->d_name);
			nearest.best = best;
		}
	}
	if (d)
		closedir(d);
	n = strlen(err->text);
	if (*best)
		snprintf(
			err->text + n, sizeof(err->text) - n, "; similar is %s:%s", category, best);
}

static int read_format(struct gt_tracepoint_format *to, int tracefs, const char *category,
	const char *name, struct gt_err *err)
{
	char path[256];
	FILE *f;
	int fd, rc;

	snprintf(path, sizeof(path), "events/%s/%s/format", category, name);
	fd = openat(tracefs, path, O_RDONLY | O_CLOEXEC);
	f = fd >= 0 ? fdopen(fd, "r") : NULL;
	if (!f && errno != ENOENT) {
		rc = -errno;
		if (fd >= 0)
			close(fd);
		return gt_err_set(err, rc, "--tracepoint '%s:%s': cannot read its format: %s",
			category, name, strerror(-rc));
	}
	if (!f) {
		gt_err_set(err, -ENOENT, "--tracepoint '%s:%s': the kernel has no such tracepoint",
			category, name);
		add_nearest(err, tracefs, category, name);
		return -ENOENT;
	}
	rc = gt_tracepoint_format_read(to, f, err);
	fclose(f);
	return rc;
}

/* "name,name": the fields' names. */
static void join_names(const struct gt_tracepoint_format *f, char *to, size_t size)
{
	size_t n = 0;

	to[0] = 0;
	for (unsigned i = 0; i < f->n && n < size; i++)
		n += (size_t)snprintf(to + n, size - n, "%s%s", i ? "," : "", f->fields[i].name);
}

static int add(struct gt_kernel_tracepoints *k, int tracefs, const char *text, struct gt_err *err)
{
	char category[64], names[GT_TRACEPOINT_FIELDS * 33];
	const char *colon = strchr(text, ':');
	struct tracepoint one = { .link = -1 };
	int rc;

	snprintf(category, sizeof(category), "%.*s", (int)(colon - text), text);
	rc = read_format(&one.format, tracefs, category, colon + 1, err);
	if (rc)
		return rc;
	join_names(&one.format, names, sizeof(names));
	one.probe = gt_bpf_probe_add(k->way, category, colon + 1);
	for (size_t i = 0; i < k->n; i++)
		if (k->list[i].probe == one.probe) /* named twice */
			return 0;
	if (one.probe == GT_NONE || gt_bpf_probe_name_fields(k->way, one.probe, names) ||
		gt_grow(&k->list, &k->cap, k->n + 1, sizeof(*k->list)))
		return gt_err_set(err, -ENOMEM, "out of memory (tracepoints)");
	k->list[k->n++] = one;
	return 0;
}

static int add_all(struct gt_kernel_tracepoints *k, struct gt_err *err)
{
	const struct gt_opt_list *list = k->way->opt.tracepoints;
	struct gt_err ignored = GT_ERR_INIT;
	int tracefs = gt_tracefs_open(&ignored), rc = 0;

	if (tracefs < 0) {
		for (size_t i = 0; i < list->n; i++)
			gt_bpf_missing(
				k->way, "--tracepoint %s (%s)", list->items[i], ignored.text);
		return 0;
	}
	for (size_t i = 0; !rc && i < list->n; i++)
		rc = add(k, tracefs, list->items[i], err);
	if (!rc && k->way->opt.fault && add(k, tracefs, PAGE_FAULTS, &ignored))
		gt_bpf_missing(
			k->way, "page faults (this kernel has no tracepoint " PAGE_FAULTS ")");
	close(tracefs);
	return rc;
}

struct gt_kernel_tracepoints *gt_kernel_tracepoints_open(struct gt_bpf_way *b, struct gt_err *err)
{
	struct gt_kernel_tracepoints *k = calloc(1, sizeof(*k));

	if (!k) {
		gt_err_set(err, -ENOMEM, "out of memory (tracepoints)");
		return NULL;
	}
	k->way = b;
	if (!(b->opt.tracepoints->n || b->opt.fault) || !add_all(k, err))
		return k;
	gt_kernel_tracepoints_close(k);
	return NULL;
}

size_t gt_kernel_tracepoints_count(const struct gt_kernel_tracepoints *k) { return k->n; }

/* ---- links ---- */

/* The event is of all processes and, once it has a program, of all CPUs. */
static int attach(struct gt_kernel_tracepoints *k, struct tracepoint *t)
{
	struct perf_event_attr a = { .size = sizeof(a),
		.type = PERF_TYPE_TRACEPOINT,
		.config = t->format.id,
		.sample_period = 1,
		.wakeup_events = 1 };
	int fd = (int)syscall(SYS_perf_event_open, &a, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return -errno;
	t->link = gt_perf_link(&k->way->wrappers,
		bpf_object__find_program_by_name(k->way->object, "on_tracepoint"), fd, t->probe);
	return t->link < 0 ? t->link : 0;
}

int gt_kernel_tracepoints_attach(struct gt_kernel_tracepoints *k, struct gt_err *err)
{
	for (size_t i = 0; i < k->n; i++) {
		const struct gt_bpf_known_probe *p = &k->way->probes[k->list[i].probe];
		int rc = attach(k, &k->list[i]);

		if (rc)
			return gt_err_set(err, rc, "--tracepoint '%s:%s': cannot attach to it: %s",
				p->domain, p->name, strerror(-rc));
	}
	return 0;
}

/* ---- hits ---- */

static void set_value(struct gt_bpf_probe_with_texts *to, unsigned i,
	const struct gt_tracepoint_field *f, const struct gt_bpf_tracepoint *hit)
{
	static const uint8_t kinds[] = { [GT_TRACEPOINT_UNSIGNED] = GT_PROBE_UNSIGNED,
		[GT_TRACEPOINT_SIGNED] = GT_PROBE_SIGNED,
		[GT_TRACEPOINT_HEX] = GT_PROBE_HEX,
		[GT_TRACEPOINT_TEXT] = GT_PROBE_TEXT,
		[GT_TRACEPOINT_TEXT_AT] = GT_PROBE_TEXT,
		[GT_TRACEPOINT_TEXT_AFTER] = GT_PROBE_TEXT };

	to->probe.fields.fields[i] = (uint8_t)GT_PROBE_FIELD(kinds[f->kind], i);
	to->probe.values[i] = gt_tracepoint_number(f, hit->data, hit->bytes);
}

void gt_kernel_tracepoints_write(
	struct gt_kernel_tracepoints *k, const struct gt_bpf_tracepoint *hit)
{
	struct gt_bpf_probe_with_texts to = { .probe = { .head = hit->head, .probe = hit->probe } };
	const struct gt_tracepoint_format *f = NULL;

	for (size_t i = 0; i < k->n; i++)
		if (k->list[i].probe == hit->probe)
			f = &k->list[i].format;
	if (!f)
		return;
	to.probe.fields.n = (uint8_t)f->n;
	for (unsigned i = 0; i < f->n; i++)
		set_value(&to, i, &f->fields[i], hit);
	gt_bpf_set_texts(&to.probe.fields);
	for (unsigned t = 0; t < to.probe.fields.texts; t++) {
		unsigned i = to.probe.fields.text_of[t];
		char *text = to.text + (size_t)t * GT_BPF_PROBE_TEXT_MAX;

		if (i >= f->n)
			continue;
		gt_tracepoint_text(
			&f->fields[i], hit->data, hit->bytes, text, GT_BPF_PROBE_TEXT_MAX);
		to.probe.text_bytes[t] = (uint16_t)(strlen(text) + 1);
	}
	gt_bpf_write_probe(k->way, &to.probe);
}

void gt_kernel_tracepoints_detach(struct gt_kernel_tracepoints *k)
{
	for (size_t i = 0; k && i < k->n; i++) {
		if (k->list[i].link >= 0)
			close(k->list[i].link);
		k->list[i].link = -1;
	}
}

void gt_kernel_tracepoints_close(struct gt_kernel_tracepoints *k)
{
	gt_kernel_tracepoints_detach(k);
	if (k)
		free(k->list);
	free(k);
}
