/* Queries over traces whose figures are known, and random expressions over random programs, beside a second evaluation that looks at
 * one row at a time in the plainest way. */
#define _GNU_SOURCE
#include <math.h>
#include "analyze/query.h"
#include "analyze/query_distinct.h"
#include "formats/base/buf.h"
#include "tests/unit/random_program.h"
#include "tests/unit/reports.h"

/* ---- asking ---- */

/* As gtanalyze does it. Closes the reader; takes q, which may be NULL. new: what the report says; NULL: it failed. */
static char *answer(struct gt_reader *r, struct gt_query *q, const char *name, const struct gt_analysis_options *options, unsigned threads,
		    enum gt_table_format format)
{
	struct gt_analysis report = *gt_analysis_find(name);
	const struct gt_analysis *chosen[] = { &report };
	struct gt_table *tables[GT_RUN_TABLES] = { NULL };
	struct gt_analysis_options o = *options;
	struct gt_err err = GT_ERR_INIT;
	struct gt_out out;
	char *text = NULL;
	int made;

	if (!q)
		return gt_reader_close(r), NULL;
	gt_query_fit(q, &report);
	o.origin = gt_reader_segment(r, 0)->min_start;
	o.query = o.histogram = q;
	made = gt_run(r, chosen, 1, &o, threads, tables, &err);
	gt_out_memory(&out);
	if (made >= 0 && !gt_tables_print(tables, (unsigned)made, format, NULL, &out, &err))
		text = strndup(out.data, out.len);
	gt_out_close(&out, &err);
	for (unsigned i = 0; i < GT_RUN_TABLES; i++)
		gt_table_free(tables[i]);
	gt_query_free(q);
	gt_reader_close(r);
	return text;
}

static char *ask_text(struct gt_reader *r, const char *where, const char *by, const char *agg, const struct gt_analysis_options *options,
		      unsigned threads)
{
	struct gt_err err = GT_ERR_INIT;
	const char *option, *wrong;

	return answer(r, gt_query_new(where, by, agg, NULL, &option, &wrong, &err), "query", options, threads, GT_JSON);
}

static char *ask_hist(struct gt_reader *r, const char *where, const char *by, const char *of, const struct gt_analysis_options *options,
		      enum gt_table_format format)
{
	struct gt_err err = GT_ERR_INIT;
	const char *option, *wrong;

	return answer(r, gt_query_new_hist(where, by, of, &option, &wrong, &err), "histogram", options, 1, format);
}

static json_t *ask(struct gt_reader *r, const char *where, const char *by, const char *agg, const struct gt_analysis_options *o)
{
	char *text = ask_text(r, where, by, agg, o, 1);
	json_t *json = text ? json_loads(text, JSON_REJECT_DUPLICATES, NULL) : NULL;

	free(text);
	return json;
}

/* ---- what is wrong is said at its place ---- */

static const struct bad { const char *where, *by, *agg, *order; uint64_t column; const char *says; } bads[] = {
	{ "knid==kernel", NULL, NULL, NULL, 0, "there is no field 'knid'; is 'kind' meant?" },
	{ "dur>1ms && nmae==x", NULL, NULL, NULL, 11, "is 'name' meant?" },
	{ "zzz==1", NULL, NULL, NULL, 0, "the fields are" },
	{ "kind==kernle", NULL, NULL, NULL, 6, "is 'kernel' meant?" },
	{ "layer==x", NULL, NULL, NULL, 7, "none of api ioctl scheduler gpu user runtime overhead" },
	{ "dur>5", NULL, NULL, NULL, 5, "needs a unit" },
	{ "dur>5KiB", NULL, NULL, NULL, 5, "'KiB' is no unit of time" },
	{ "bytes>5ms", NULL, NULL, NULL, 7, "no unit of size" },
	{ "registers>5k", NULL, NULL, NULL, 11, "'k' is no part of it" },
	{ "dur>x", NULL, NULL, NULL, 4, "a number should stand here, such as 1.5ms" },
	{ "dur>nan", NULL, NULL, NULL, 4, "a number should stand here" },
	{ "dur~/x/", NULL, NULL, NULL, 3, "dur is a number" },
	{ "name<x", NULL, NULL, NULL, 4, "name is a text" },
	{ "failed>1", NULL, NULL, NULL, 6, "stands alone" },
	{ "failed==maybe", NULL, NULL, NULL, 8, "yes or no" },
	{ "dur=1ms", NULL, NULL, NULL, 3, "is '==' meant?" },
	{ "failed & failed", NULL, NULL, NULL, 7, "is '&&' meant?" },
	{ "failed | failed", NULL, NULL, NULL, 7, "is '||' meant?" },
	{ "failed failed", NULL, NULL, NULL, 7, "&& or || should stand here" },
	{ "(failed", NULL, NULL, NULL, 0, "this ( is not closed" },
	{ "(failed x)", NULL, NULL, NULL, 8, "&& or || or )" },
	{ "failed)", NULL, NULL, NULL, 6, "this ) closes nothing" },
	{ "failed &&", NULL, NULL, NULL, 9, "ends too early" },
	{ "", NULL, NULL, NULL, 0, "ends too early" },
	{ "name==\"x", NULL, NULL, NULL, 6, "no closing \"" },
	{ "name~/x", NULL, NULL, NULL, 5, "no closing /" },
	{ "name~/(/", NULL, NULL, NULL, 5, "no regular expression" },
	{ "name~/((a{100}){100})/", NULL, NULL, NULL, 5, "more than 1000 times" },
	{ "name~/(a)\\1/", NULL, NULL, NULL, 5, "no \\1" },
	{ "name==/x/", NULL, NULL, NULL, 6, "goes with ~" },
	{ "name==", NULL, NULL, NULL, 6, "a text should stand here" },
	{ NULL, "name,dur", NULL, NULL, 5, "too many values" },
	{ NULL, "name,,pid", NULL, NULL, 5, "a field should stand here" },
	{ NULL, "", NULL, NULL, 0, "a field should stand here" },
	{ NULL, "name, name", NULL, NULL, 6, "stands twice" },
	{ NULL, NULL, "count,sum(dru)", NULL, 10, "is 'dur' meant?" },
	{ NULL, NULL, "cuont", NULL, 0, "is 'count' meant?" },
	{ NULL, NULL, "p101(dur)", NULL, 0, "none of count" },
	{ NULL, NULL, "sum", NULL, 3, "sum takes a field" },
	{ NULL, NULL, "sum(dur", NULL, 7, "a ) should stand here" },
	{ NULL, NULL, "count(dur)", NULL, 5, "takes no field" },
	{ NULL, NULL, "sum(start)", NULL, 4, "no quantity" },
	{ NULL, NULL, "p50(value)", NULL, 4, "quantiles are of" },
	{ NULL, NULL, "union(bytes)", NULL, 6, "union takes dur" },
	{ NULL, NULL, "count,count", NULL, 6, "stands twice" },
	{ NULL, NULL, "distinct", NULL, 8, "distinct takes a field" },
	{ NULL, NULL, "distinct(nmae)", NULL, 9, "is 'name' meant?" },
	{ NULL, NULL, "distnct(name)", NULL, 0, "is 'distinct' meant?" },
	{ NULL, NULL, "count", "sum(dur)", 0, "one of the aggregates" },
	{ NULL, NULL, "count", "count,count", 6, "by one aggregate" },
};

static void errors_have_a_place(void)
{
	for (size_t i = 0; i < sizeof(bads) / sizeof(*bads); i++) {
		const struct bad *b = &bads[i];
		const char *option, *wrong;
		struct gt_err err = GT_ERR_INIT;
		struct gt_query *q = gt_query_new(b->where, b->by, b->agg, b->order, &option, &wrong, &err);

		if (q || err.code != -EINVAL || err.offset != b->column || !strstr(err.text, b->says))
			printf("# %s %s %s: %s at %llu\n", b->where ? b->where : "", b->by ? b->by : "", b->agg ? b->agg : "", err.text,
			       (unsigned long long)err.offset);
		CHECK(!q && err.code == -EINVAL && err.offset == b->column && strstr(err.text, b->says));
		CHECK(wrong == (b->where ? b->where : b->by ? b->by : b->order ? b->order : b->agg));
	}
}

static void sizes_are_bounded(void)
{
	struct gt_err err = GT_ERR_INIT;
	const char *option, *wrong;
	char deep[200] = "", wide[20000] = "failed";

	memset(deep, '(', 100);
	strcpy(deep + 100, "failed");
	CHECK(!gt_query_new(deep, NULL, NULL, NULL, &option, &wrong, &err) && strstr(err.text, "nested more than"));
	for (int i = 0; i < 200; i++)
		strcat(wide, " || failed");
	err = (struct gt_err)GT_ERR_INIT;
	CHECK(!gt_query_new(wide, NULL, NULL, NULL, &option, &wrong, &err) && strstr(err.text, "more than 128 conditions"));
	err = (struct gt_err)GT_ERR_INIT;
	strcpy(wide, "arg.x");
	for (int i = 0; i < 33; i++)
		sprintf(wide + strlen(wide), "&&arg.x%d", i);
	CHECK(!gt_query_new(wide, NULL, NULL, NULL, &option, &wrong, &err) && strstr(err.text, "more than 32 different fields"));
}

/* ---- known figures ---- */

static const struct { const char *where; int rows; } known_rows[] = {
	{ "kind==call", 12 }, { "kind==ioctl", 1 }, { "kind==open", 1 }, { "kind != call", 2 }, { "kind~/^(call|open)$/", 13 },
	{ "kind~io*", 1 }, { "name==cuLaunchKernel", 4 }, { "name==\"cuLaunchKernel\"", 4 }, { "name~cuMem*", 6 }, { "name~/Mem|Ctx/", 7 },
	{ "name!~cuMem* && kind==call", 6 }, { "category==memory", 5 }, { "category==memory && !(name~/Free/)", 3 }, { "layer==ioctl", 1 },
	{ "LAYER==ioctl", -1 }, { "layer==IOCTL", 1 }, { "dur==100ns", 4 }, { "dur >= 0.1us", 8 }, { "dur>0.1us", 4 }, { "dur<0.1us", 6 },
	{ "dur<=100ns", 10 }, { "dur!=100ns", 10 }, { "dur>0.0999us && dur<0.1001us", 4 }, { "dur>-5ns", 14 }, { "dur", 14 },
	{ "bytes==4KiB", 1 }, { "bytes>=500", 3 }, { "bytes==7B", 1 }, { "bytes==1kB", 1 }, { "failed", 1 }, { "!failed && kind==call", 11 },
	{ "failed==no", 12 }, { "ret==2", 1 }, { "ret!=0", 1 }, { "tid==100", 9 }, { "tid!=100", 5 }, { "thread==main", 9 },
	{ "process~tr?in && pid==100", 14 }, { "depth==1", 1 }, { "depth>0", 1 }, { "start<1us", 1 }, { "start==0", 1 }, { "end==100ns", 1 },
	{ "arg.one==4096", 1 }, { "arg.one==4KiB", 1 }, { "arg.one==_Z3addPf", 3 }, { "arg.one~*mul*", 1 }, { "arg.two>=0x77", 2 },
	{ "arg.none==1", 0 }, { "device==0", 0 }, { "direction==HtoD", 1 }, { "direction!=htod", 0 }, { "direction", 1 },
	{ "kind==call&&(failed||dur==50ns)", 2 }, { "kind==call && failed || dur==50ns && tid==100", 2 }, { "!kind==call", 2 },
	{ "recording==0", 14 }, { "recording==1", 0 }, { "kind==kernel", 0 }, { "name == ' x'", 0 }, { "name=='cu\\'x'", 0 },
};

static void known_counts(void)
{
	for (size_t i = 0; i < sizeof(known_rows) / sizeof(*known_rows); i++) {
		struct trace t;
		json_t *j;
		double n;

		known(&t, true);
		j = ask(end(&t), known_rows[i].where, NULL, "count", &plain);
		n = j && rows(j, "query") ? num(row(j, "query", 0), "count") : j ? 0 : -1;
		if (n != known_rows[i].rows)
			printf("# %s: %g\n", known_rows[i].where, n);
		CHECK(n == known_rows[i].rows);
		json_decref(j);
	}
}

static void figures_of_groups(void)
{
	struct trace t;
	const json_t *k;
	json_t *j;

	known(&t, true);
	j = ask(end(&t), "kind==call", "name", "count,sum(dur),mean(dur),min(dur),max(dur),stddev(dur),p50(dur),sum(bytes),sum(failed),first,last,"
		"union(dur),max(depth),mean(failed)", &plain);
	k = row_named(j, "query", "name", "cuMemAlloc_v2");
	CHECK(rows(j, "query") == 6 && num(k, "count") == 3 && num(k, "sum_dur_ns") == 950 && num(k, "mean_dur_ns") == 316);
	CHECK(num(k, "min_dur_ns") == 100 && num(k, "max_dur_ns") == 450 && num(k, "stddev_dur_ns") == 189 && num(k, "sum_bytes") == 1507);
	CHECK(fabs(num(k, "p50_dur_ns") - 400) <= 4);
	CHECK(num(k, "sum_failed") == 1 && num(k, "first_ns") == 1000 && num(k, "last_ns") == 1900 && num(k, "union_dur_ns") == 850);
	CHECK(num(k, "max_depth") == 0 && fabs(num(k, "mean_failed") - 1. / 3) < 1e-9);
	CHECK(row(j, "query", 0) == k && is(row(j, "query", 1), "name", "cuLaunchKernel"));	/* largest sum first */
	CHECK(absent(row_named(j, "query", "name", "cuLaunchKernel"), "sum_bytes"));
	CHECK(noted(j, "query", "12 rows in 6 groups, largest sum(dur) first") && noted(j, "query", "8 of 12 rows have no bytes"));
	json_decref(j);
}

static void several_fields(void)
{
	struct trace t;
	const json_t *k;
	json_t *j;

	known(&t, true);
	j = ask(end(&t), NULL, "kind,tid,arg.one,bytes,failed", NULL, &plain);
	k = row_named(j, "query", "arg.one", "_Z3addPf");
	CHECK(k && is(k, "kind", "call") && absent(k, "bytes") && num(k, "failed") == 0 && num(k, "count") + num(k, "tid") == 101 + 2);
	k = row_named(j, "query", "arg.one", "4096");
	CHECK(k && num(k, "bytes") == 4096 && num(k, "count") == 1 && num(k, "sum_dur_ns") == 100);
	k = row_named(j, "query", "kind", "open");
	CHECK(k && absent(k, "failed") && absent(k, "arg.one") && num(k, "count") == 1);
	json_decref(j);
}

static void what_is_absent_is_said(void)
{
	struct trace t;
	json_t *j;

	known(&t, true);
	j = ask(end(&t), "kind==call && bytes>1", NULL, "count", &plain);	/* 4 have a size; calls only get there */
	CHECK(num(row(j, "query", 0), "count") == 4 && noted(j, "query", "8 rows held against bytes>1 have no bytes: it is false of them"));
	json_decref(j);
	known(&t, true);
	j = ask(end(&t), "kind==kernel", NULL, "count", &plain);		/* nobody looked at the GPU */
	CHECK(rows(j, "query") == 0 && noted(j, "query", "not recorded"));
	json_decref(j);
	known(&t, true);
	j = ask(end(&t), "name==nothing", NULL, "count,sum(dur)", &plain);
	CHECK(num(row(j, "query", 0), "count") == 0 && absent(row(j, "query", 0), "sum_dur_ns"));
	json_decref(j);
}

static void work_of_a_gpu(void)
{
	struct gt_gpu_work w;
	struct gpus g;
	json_t *j;

	gpus_begin(&g, NULL);
	w = gpus_work(g.stream[1][0], 1000, 1100);
	gpus_launched(&g, &w, 1, 900, 20, GT_JOIN_CORRELATION);
	gpus_kernel(&g, 0, &w);
	w = gpus_work(g.stream[0][1], 1400, 1500);
	gpus_copy(&g, &w, GT_DIR_HTOD, GT_GPU_MEM_PAGEABLE, GT_GPU_MEM_DEVICE, 5000);
	gpus_sample(&g, g.device[0], 1100, 70.5);
	gpus_sample(&g, g.device[0], 1200, 72);
	j = ask(gpus_end(&g), "kind==kernel && grid==16 && block==256 && registers==32 && shared==1048 && queue==80ns && launch==cuLaunchKernel && "
		"launch_dur==20ns && launch_tid==101 && device==1 && stream==7 && context==1 && correlation==5 && mangled==_Z3addPf && "
		"fullname==\"add(float*)\" && name==add && arg.grid_y==2 || kind==copy && src==pageable && dst==device && direction==HtoD && "
		"bytes==5000 && arg.async==1 && device==0 && !launch || value>71 && kind==counter",
		"kind", "count,mean(queue),max(value),sum(bytes),sum(arg.grid_x)", &plain);
	CHECK(rows(j, "query") == 3 && num(row_named(j, "query", "kind", "kernel"), "count") == 1);
	CHECK(num(row_named(j, "query", "kind", "kernel"), "mean_queue_ns") == 80);
	CHECK(num(row_named(j, "query", "kind", "kernel"), "sum_arg.grid_x") == 8);
	CHECK(num(row_named(j, "query", "kind", "copy"), "sum_bytes") == 5000);
	CHECK(num(row_named(j, "query", "kind", "counter"), "max_value") == 72);
	json_decref(j);
}

static void too_many_groups_are_refused(void)
{
	struct trace t;
	json_t *j;

	begin(&t, true);
	for (int i = 0; i < 100001; i++)
		call(&t, 0, COPY, 1000 + 10 * i, 1005 + 10 * i, 0, 0, (uint64_t)i, 0);
	j = ask(end(&t), NULL, "bytes", "count", &plain);
	CHECK(!rows(j, "query") && noted(j, "query", "cannot answer: more than 100000 groups: --by fewer fields"));
	json_decref(j);
}

/* ---- random: the same question, answered row by row ---- */

struct value { bool there; const char *text; double n; };
struct naive {			/* a row: what it is, and its fields */
	const char *kind, *name, *category, *layer;
	int64_t start, end;
	const struct rp_call *call;
	const struct rp_op *op;
	const struct rp_call *launch;
};
static struct naive all[2 * RP_MOST];
static int nall;
static struct rp program;

static const char *short_name(const char *name)
{
	static const char *const forms[5] = { "add", "mul", "gemm<128>", "ncclDevKernel_AllReduce", "relu" };

	for (int i = 0; i < 5; i++)
		if (!strcmp(rp_kernels[i], name))
			return forms[i];
	return name;
}

static void collect(void)
{
	static char names[2 * RP_MOST][64];

	nall = 0;
	for (int i = 0; i < program.ncalls; i++) {
		const struct rp_call *c = &program.calls[i];

		all[nall++] = (struct naive){ c->open ? "open" : c->what == RP_IOCTL ? "ioctl" : "call", rp_kinds[c->what].name,
					      gt_category_word(rp_kinds[c->what].category), c->what == RP_IOCTL ? "ioctl" : "api", c->start,
					      c->end, c, NULL, NULL };
	}
	for (int i = 0; i < program.nops; i++) {
		const struct rp_op *o = &program.ops[i];
		struct naive *n = &all[nall];

		if (o->what == RP_LAUNCH)
			snprintf(names[nall], 64, "%s", short_name(rp_kernels[o->kernel]));
		else if (o->what == RP_COPY)
			snprintf(names[nall], 64, "memcpy %s (%s -> %s)", gt_direction_word(o->direction), gt_gpu_memory_word(o->src),
				 gt_gpu_memory_word(o->dst));
		else
			strcpy(names[nall], "memset (device)");
		*n = (struct naive){ o->what == RP_LAUNCH ? "kernel" : o->what == RP_COPY ? "copy" : "set", names[nall],
				     o->what == RP_LAUNCH ? "kernel" : "copy", "gpu", o->start, o->end, NULL, o,
				     o->call < 0 ? NULL : &program.calls[o->call] };
		nall++;
	}
}

static int64_t origin(void)
{
	int64_t first = INT64_MAX;

	for (int i = 0; i < nall; i++)
		first = all[i].start < first ? all[i].start : first;
	return first;
}

static struct value text(const char *s) { return (struct value){ s != NULL, s, 0 }; }
static struct value number(bool there, double n) { return (struct value){ there, NULL, n }; }

static struct value field(const struct naive *r, const char *name)
{
	const struct rp_call *c = r->call;
	const struct rp_op *o = r->op;
	bool sized = c ? c->what != RP_LAUNCH : o->what != RP_LAUNCH;
	double bytes = c ? (double)c->bytes : (double)o->bytes;

	if (!strcmp(name, "kind")) return text(r->kind);
	if (!strcmp(name, "name")) return text(r->name);
	if (!strcmp(name, "category")) return text(r->category);
	if (!strcmp(name, "layer")) return text(r->layer);
	if (!strcmp(name, "dur")) return number(true, (double)(r->end - r->start));
	if (!strcmp(name, "start")) return number(true, (double)(r->start - origin()));
	if (!strcmp(name, "tid")) return number(c, c ? 100 + c->thread : 0);
	if (!strcmp(name, "pid")) return number(true, 100);
	if (!strcmp(name, "depth")) return number(c, c ? c->depth : 0);
	if (!strcmp(name, "ret")) return number(c && !c->open, c ? c->ret : 0);
	if (!strcmp(name, "failed")) return number(c && !c->open, c ? c->ret != 0 : 0);
	if (!strcmp(name, "device")) return number(o, o ? o->device : 0);
	if (!strcmp(name, "stream")) return number(o, o ? 7 + o->stream : 0);
	if (!strcmp(name, "bytes")) return number(sized && !(c && c->open && !bytes), bytes);
	if (!strcmp(name, "launch")) return text(r->launch ? rp_kinds[r->launch->what].name : NULL);
	if (!strcmp(name, "launch_tid")) return number(r->launch, r->launch ? 100 + r->launch->thread : 0);
	if (!strcmp(name, "launch_dur")) return number(r->launch, r->launch ? (double)(r->launch->end - r->launch->start) : 0);
	if (!strcmp(name, "queue"))
		return number(r->launch && r->start >= r->launch->end, r->launch ? (double)(r->start - r->launch->end) : 0);
	if (!strcmp(name, "direction"))
		return text(c ? "HtoD" : o->what == RP_COPY ? gt_direction_word(o->direction) : NULL);
	if (!strcmp(name, "src")) return text(o && o->what == RP_COPY ? gt_gpu_memory_word(o->src) : NULL);
	abort();
}

struct expr { int op; struct expr *a, *b; const char *field, *sign; double n; const char *text; };	/* op: '&' '|' '!' or 't' */
static struct expr pool[64];
static int npool;

/* Is it so of that row? What has no such field is not compared. */
static bool holds(const struct expr *e, const struct naive *r)
{
	struct value v;

	if (e->op == '&') return holds(e->a, r) && holds(e->b, r);
	if (e->op == '|') return holds(e->a, r) || holds(e->b, r);
	if (e->op == '!') return !holds(e->a, r);
	v = field(r, e->field);
	if (!v.there) return false;
	if (!*e->sign) return v.text ? *v.text : v.n != 0;
	if (!strcmp(e->sign, "~")) return strstr(v.text, e->text);
	if (!strcmp(e->sign, "!~")) return !strstr(v.text, e->text);
	if (v.text) return !strcmp(v.text, e->text) == !strcmp(e->sign, "==");
	return !strcmp(e->sign, "==") ? v.n == e->n : !strcmp(e->sign, "!=") ? v.n != e->n : !strcmp(e->sign, "<") ? v.n < e->n :
	       !strcmp(e->sign, "<=") ? v.n <= e->n : !strcmp(e->sign, ">") ? v.n > e->n : v.n >= e->n;
}

static const char *pick(const char *const *list, int n) { return list[rp_below(n)]; }
#define PICK(...) pick((const char *const[]){ __VA_ARGS__ }, (int)(sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *)))

static struct expr *random_expr(int depth)
{
	struct expr *e = &pool[npool++];
	int what = depth > 3 ? 9 : rp_below(10);

	*e = (struct expr){ .op = what < 3 ? '&' : what < 5 ? '|' : what < 6 ? '!' : 't' };
	if (e->op != 't') {
		e->a = random_expr(depth + 1);
		e->b = e->op == '!' ? NULL : random_expr(depth + 1);
		return e;
	}
	if (rp_below(2)) {
		e->field = PICK("kind", "name", "category", "layer", "launch", "direction", "src");
		e->sign = PICK("==", "!=", "~", "!~", "");
		e->text = !strcmp(e->field, "kind") ? PICK("kernel", "call", "copy", "open", "ioctl", "set") :
			  !strcmp(e->field, "category") ? PICK("launch", "copy", "kernel", "sync", "ioctl") :
			  !strcmp(e->field, "layer") ? PICK("api", "gpu", "ioctl") : !strcmp(e->field, "direction") ? PICK("HtoD", "DtoH") :
			  !strcmp(e->field, "src") ? PICK("pageable", "device", "pinned") :
			  PICK("cuLaunchKernel", "Mem", "add", "e", "cuEventQuery", "memset (device)");
		return e;
	}
	e->field = PICK("dur", "dur", "start", "tid", "depth", "ret", "failed", "device", "stream", "bytes", "launch_tid", "launch_dur", "queue");
	e->sign = !strcmp(e->field, "failed") ? PICK("==", "!=", "") : PICK("==", "!=", "<", "<=", ">", ">=", "");
	e->n = rp_below(3) ? rp_below(40) : rp_below(8000);
	if (strstr("tid launch_tid", e->field))
		e->n = 99 + rp_below(3);
	if (strstr("stream", e->field))
		e->n = 6 + rp_below(3);
	if (strstr("failed device depth ret", e->field))
		e->n = rp_below(2);
	return e;
}

static void put(struct gt_buf *b, const struct expr *e)
{
	const char *unit = e->field && strstr("dur start queue launch_dur", e->field) ? "ns" : "";

	if (e->op == '!' || e->op == '&' || e->op == '|') {
		gt_buf_str(b, e->op == '!' ? "!(" : "(");
		put(b, e->a);
		if (e->b) {
			gt_buf_str(b, e->op == '&' ? " && " : "||");
			put(b, e->b);
		}
		gt_buf_str(b, ")");
	} else if (!*e->sign)
		gt_buf_str(b, e->field);
	else if (!e->text)
		gt_buf_printf(b, "%s %s %.0f%s", e->field, e->sign, e->n, unit);
	else if (*e->sign == '~' || e->sign[1] == '~')
		gt_buf_printf(b, e->text[0] == 'e' ? "%s%s/%s/" : "%s%s'*%s*'", e->field, e->sign, e->text);
	else
		gt_buf_printf(b, "%s%s\"%s\"", e->field, e->sign, e->text);
}

/* Do the cells of a row that the report made say what this row says? */
static bool same_group(const json_t *have, const struct naive *r, const char *const *by)
{
	for (; *by; by++) {
		const json_t *cell = json_object_get(have, *by);
		struct value v = field(r, *by);

		if (json_is_null(cell) == v.there || (v.there && v.text && strcmp(json_string_value(cell), v.text) != 0) ||
		    (v.there && !v.text && json_number_value(cell) != v.n))
			return false;
	}
	return true;
}

static bool within(const struct naive *r, const struct gt_filter *f)
{
	return !f->ranged || (r->start < f->to && (r->end > f->from || r->start >= f->from));
}

/* Figures of the rows of a group, the slow way. False: they are not what the report says. */
static bool same_figures(const json_t *have, const struct expr *e, const char *const *by, const struct gt_filter *f)
{
	static uint8_t busy[RP_END + 1];
	double n = 0, sum = 0, least = 1e18, most = -1, squares = 0, bytes = 0, sized = 0, first = 1e18, last = 0, united = 0, deviation;

	memset(busy, 0, sizeof(busy));
	for (int i = 0; i < nall; i++) {
		const struct naive *r = &all[i];
		double dur = (double)(r->end - r->start);

		if (!within(r, f) || !holds(e, r) || !same_group(have, r, by))
			continue;
		n++;
		sum += dur;
		squares += dur * dur;
		least = dur < least ? dur : least;
		most = dur > most ? dur : most;
		sized += field(r, "bytes").there;
		bytes += field(r, "bytes").there ? field(r, "bytes").n : 0;
		first = fmin(first, (double)(r->start - origin()));
		last = fmax(last, (double)(r->end - origin()));
		for (int64_t t = r->start; t < r->end; t++)
			busy[t] |= !f->ranged || (t >= f->from && t < f->to);
	}
	for (int t = 0; t < RP_END; t++)
		united += busy[t];
	deviation = n < 2 ? 0 : sqrt((squares - sum * sum / n) / (n - 1));
	return num(have, "count") == n && n && num(have, "sum_dur_ns") == sum && num(have, "min_dur_ns") == least &&
	       num(have, "max_dur_ns") == most && num(have, "mean_dur_ns") == floor(sum / n) && num(have, "first_ns") == first &&
	       num(have, "last_ns") == last && (sized ? num(have, "sum_bytes") == bytes : absent(have, "sum_bytes")) &&
	       (n < 2 ? absent(have, "stddev_dur_ns") : fabs(num(have, "stddev_dur_ns") - deviation) <= 0.5001) &&
	       (!json_object_get(have, "union_dur_ns") || num(have, "union_dur_ns") == united) && num(have, "p50_dur_ns") >= least &&
	       num(have, "p50_dur_ns") <= most;
}

/* The median is within 1 % of a duration that half of the rows do not exceed, and half are not below. */
static bool median_is_near(const json_t *have, const struct expr *e, const char *const *by, const struct gt_filter *f)
{
	double p50 = num(have, "p50_dur_ns"), below = 0, above = 0, n = 0;

	for (int i = 0; i < nall; i++) {
		double dur = (double)(all[i].end - all[i].start);

		if (!within(&all[i], f) || !holds(e, &all[i]) || !same_group(have, &all[i], by))
			continue;
		n++;
		below += dur < p50 * 0.99;
		above += dur > p50 * 1.01;
	}
	return below <= n / 2 && above <= n / 2;
}

static int matching(const struct expr *e, const struct gt_filter *f)
{
	int n = 0;

	for (int i = 0; i < nall; i++)
		n += within(&all[i], f) && holds(e, &all[i]);
	return n;
}

#define FIGURES "count,sum(dur),min(dur),max(dur),mean(dur),stddev(dur),p50(dur),sum(bytes),first,last"

static bool answers_agree(unsigned seed, const char *const *by, bool united, const struct gt_filter *filter)
{
	struct gt_analysis_options o = plain;
	struct gt_reader *r = rp_make(&program, seed);
	struct gt_buf where = { 0 }, list = { 0 };
	const struct expr *e;
	double counted = 0;
	bool good = true;
	json_t *j;

	collect();
	npool = 0;
	e = random_expr(0);
	put(&where, e);
	gt_buf_byte(&where, 0);
	for (const char *const *b = by; *b; b++)
		gt_buf_printf(&list, "%s%s", b == by ? "" : ",", *b);
	gt_buf_byte(&list, 0);
	o.filter = *filter;
	j = ask(r, (char *)where.data, (char *)list.data, united ? FIGURES ",union(dur)" : FIGURES, &o);
	good = j != NULL;
	for (size_t i = 0; good && i < rows(j, "query"); i++) {
		good = same_figures(row(j, "query", i), e, by, filter) && median_is_near(row(j, "query", i), e, by, filter);
		counted += num(row(j, "query", i), "count");
	}
	good = good && counted == matching(e, filter);
	if (!good)
		printf("# seed %u: %s by %s: %g rows, not %d\n", seed, (char *)where.data, (char *)list.data, counted, matching(e, filter));
	json_decref(j);
	gt_buf_release(&where);
	gt_buf_release(&list);
	return good;
}

static const char *const *random_by(unsigned seed)
{
	static const char *const lists[][4] = {
		{ "name" }, { "kind" }, { "kind", "tid" }, { "device", "stream" }, { "failed", "name" }, { "launch" }, { "direction", "src" },
		{ "depth" }, { "layer", "category", "launch_tid" },
	};

	return lists[seed % (sizeof(lists) / sizeof(*lists))];
}

static void random_questions(void)
{
	for (unsigned seed = 1; seed <= 400; seed++)
		CHECK(answers_agree(seed, random_by(seed / 2), seed % 2, &(struct gt_filter){ 0 }));
}

static void random_questions_of_a_time(void)
{
	for (unsigned seed = 1; seed <= 200; seed++)
		CHECK(answers_agree(seed, random_by(seed / 2), seed % 2,
				    &(struct gt_filter){ .ranged = true, .from = 1000 + seed * 7, .to = 3000 + seed * 11 }));
}

/* Blocks are shared out to threads at random; what they come to is the same. */
static void threads_agree(void)
{
	for (unsigned seed = 1; seed <= 40; seed++) {
		const char *where = seed % 2 ? "kind!=copy && dur>5ns || queue" : NULL;
		const char *by = seed % 3 ? "name,tid,launch,bytes" : "kind,arg.addr";
		char *one = ask_text(rp_make(&program, seed), where, by, FIGURES ",sum(arg.stream)", &plain, 1);
		char *three = ask_text(rp_make(&program, seed), where, by, FIGURES ",sum(arg.stream)", &plain, 3);
		bool same = one && three && !strcmp(one, three);

		free(one);
		free(three);
		CHECK(same);
	}
}

/* ---- different values ---- */

/* As many as there are, each held against all before it. */
static double different(const struct expr *e, const json_t *have, const char *const *by, const char *of)
{
	double n = 0;
	bool any = false;

	for (int i = 0; i < nall; i++) {
		struct value v = field(&all[i], of);
		bool seen = !v.there || !holds(e, &all[i]) || !same_group(have, &all[i], by);

		any |= !seen;
		for (int k = 0; !seen && k < i; k++) {
			struct value w = field(&all[k], of);

			seen = w.there && holds(e, &all[k]) && same_group(have, &all[k], by) && (v.text ? !strcmp(v.text, w.text) : v.n == w.n);
		}
		n += !seen;
	}
	return any ? n : -1;
}

static void different_values_are_counted(void)
{
	static const char *const of[][2] = {
		{ "name", "distinct_name" }, { "dur", "distinct_dur" }, { "start", "distinct_start" }, { "tid", "distinct_tid" },
		{ "bytes", "distinct_sizes" }, { "launch", "distinct_launch" }, { "queue", "distinct_queue" }, { "kind", "distinct_kind" },
		{ "failed", "distinct_failed" }, { "direction", "distinct_direction" }, { "stream", "distinct_stream" }, { "src", "distinct_src" },
	};
	const unsigned nof = sizeof(of) / sizeof(*of);

	for (unsigned seed = 1; seed <= 120; seed++) {
		const char *const *a = of[seed % nof], *const *b = of[(seed / 5 + 1 + seed % nof) % nof], *const *by = random_by(seed / 3);
		struct gt_reader *r = rp_make(&program, seed);
		struct gt_buf where = { 0 }, list = { 0 };
		const struct expr *e;
		char agg[200];
		json_t *j;

		collect();
		npool = 0;
		e = random_expr(0);
		put(&where, e);
		gt_buf_byte(&where, 0);
		for (const char *const *k = by; *k; k++)
			gt_buf_printf(&list, "%s%s", k == by ? "" : ",", *k);
		gt_buf_byte(&list, 0);
		snprintf(agg, sizeof(agg), a == b ? "count,distinct(%s)" : "count,distinct(%s),sum(dur),distinct(%s),max(dur)", a[0], b[0]);
		j = ask(r, (char *)where.data, (char *)list.data, agg, &plain);
		CHECK(j);
		for (size_t i = 0; i < rows(j, "query"); i++) {
			const json_t *have = row(j, "query", i);
			double na = different(e, have, by, a[0]), nb = different(e, have, by, b[0]);

			CHECK(na < 0 ? absent(have, a[1]) : num(have, a[1]) == na);
			CHECK(a == b || (nb < 0 ? absent(have, b[1]) : num(have, b[1]) == nb));
		}
		json_decref(j);
		gt_buf_release(&where);
		gt_buf_release(&list);
	}
}

/* Two recordings in one file: what has the same text or number in both is one value; threads make no difference. */
static void values_are_the_same_everywhere(void)
{
	struct trace t;
	json_t *j;

	known(&t, true);
	j = ask(end(&t), NULL, NULL, "distinct(name),distinct(tid),distinct(arg.one),distinct(arg.two),distinct(bytes),distinct(mangled)", &plain);
	CHECK(num(row(j, "query", 0), "distinct_name") == 8 && num(row(j, "query", 0), "distinct_mangled") == 8);
	CHECK(num(row(j, "query", 0), "distinct_tid") == 2 && num(row(j, "query", 0), "distinct_sizes") == 4);
	json_decref(j);
	for (unsigned seed = 1; seed <= 10; seed++) {
		char *one = ask_text(rp_make(&program, seed), NULL, "kind", "distinct(dur),distinct(name)", &plain, 1);
		char *three = ask_text(rp_make(&program, seed), NULL, "kind", "distinct(dur),distinct(name)", &plain, 3);

		CHECK(one && three && !strcmp(one, three));
		free(one);
		free(three);
	}
}

/* A number is one whatever it was stored as; a text that looks like it is another. */
static void numbers_are_compared_by_value(void)
{
	struct gt_distinct d = { 0 };
	struct gt_distinct_value list[] = {
		gt_distinct_whole(5), gt_distinct_real(5), gt_distinct_real(5.5), gt_distinct_real(-5.5), gt_distinct_whole(-5), gt_distinct_real(-5),
		{ .value = 5, .kind = GT_DISTINCT_TEXT }, gt_distinct_real(0), gt_distinct_real(-0.0), gt_distinct_whole(0), gt_distinct_real(0x1p63),
		{ .value = 1ull << 63, .kind = GT_DISTINCT_NUMBER }, gt_distinct_whole(INT64_MIN), gt_distinct_real(-0x1p63), gt_distinct_real(1e300),
	};
	int new = 0;

	for (size_t i = 0; i < sizeof(list) / sizeof(*list); i++)
		new += gt_distinct_add(&d, &list[i]);
	CHECK(new == 9 && d.used == 9);
	list[0].field = 1;
	CHECK(gt_distinct_add(&d, &list[0]) == 1);
	list[0].group = 1;
	CHECK(gt_distinct_add(&d, &list[0]) == 1 && !gt_distinct_add(&d, &list[0]));
	gt_distinct_release(&d);
}

/* As many as there is room for are counted; one more, and no count is known. */
static void too_many_values_cannot_be_counted(void)
{
	for (unsigned more = 0; more < 2; more++) {
		struct trace t;
		json_t *j;

		begin(&t, true);
		for (unsigned i = 0; i < GT_DISTINCT_MOST + more; i++)
			call(&t, 0, COPY, 1000 + i * 10, 1001 + i * 10, 0, 0, 1, 0);
		call(&t, 0, COPY, 1000, 1001, 0, 0, 1, 0);
		j = ask(end(&t), NULL, "kind", "count,distinct(start)", &plain);
		CHECK(num(row(j, "query", 0), "count") == GT_DISTINCT_MOST + more + 1);
		CHECK(more ? absent(row(j, "query", 0), "distinct_start") : num(row(j, "query", 0), "distinct_start") == GT_DISTINCT_MOST);
		CHECK(noted(j, "query", "cannot answer: there are more than 786432 different values") == (more == 1));
		json_decref(j);
	}
}

/* ---- histograms ---- */

/* Every range has as many values as lie in it, ranges do not overlap, and all values are in one. */
static bool ranges_agree(const json_t *j, const char *by, const char *of, const char *from, const char *to)
{
	double counted = 0, there = 0;

	for (size_t i = 0; i < rows(j, "histogram"); i++) {
		const json_t *have = row(j, "histogram", i);
		double n = 0;

		for (int k = 0; k < nall; k++) {
			struct value v = field(&all[k], of);

			n += strcmp(all[k].kind, "open") && v.there && same_group(have, &all[k], (const char *const[]){ by, NULL }) &&
			     v.n >= num(have, from) && v.n < num(have, to);
		}
		counted += n;
		if (!n || n != num(have, "count"))
			return false;
	}
	for (int k = 0; k < nall; k++)
		there += strcmp(all[k].kind, "open") && field(&all[k], of).there;
	return counted == there;
}

static void histograms_count(void)
{
	static const char *const of[][3] = { { "dur", "from_ns", "to_ns" }, { "bytes", "from_bytes", "to_bytes" }, { "queue", "from_ns", "to_ns" },
					     { "depth", "from", "to" } };

	for (unsigned seed = 1; seed <= 80; seed++) {
		const char *by = seed % 3 ? "name" : "kind", *const *f = of[seed % 4];
		char *said = ask_hist(rp_make(&program, seed), NULL, by, f[0], &plain, GT_JSON);
		json_t *j = json_loads(said, JSON_REJECT_DUPLICATES, NULL);
		bool agree;

		collect();
		agree = ranges_agree(j, by, f[0], f[1], f[2]);
		json_decref(j);
		free(said);
		CHECK(agree);
	}
}

/* Nine calls of 1000 ns, one of 70 us: two steps to a power of two, and the empty ones between are one line. */
static void histograms_are_drawn(void)
{
	struct gt_analysis_options o = plain;
	struct trace t;
	char *said;

	setenv("LC_ALL", "C", 1);
	begin(&t, true);
	for (int i = 0; i < 9; i++)
		call(&t, 0, LAUNCH, 1000 + i * 10000, 2000 + i * 10000, 0, 0, str(&t, "_Z3addPf"), 0);
	call(&t, 0, LAUNCH, 100000, 170000, 0, 0, str(&t, "_Z3addPf"), 0);
	o.width = 60;
	said = ask_hist(end(&t), "dur>500ns", NULL, NULL, &o, GT_TEXT);
	CHECK(said && !strcmp(said, "Histogram of dur where dur>500ns, by name\n  cuLaunchKernel\n"
			      "    10 rows, p50 1.000 us, p90 1.000 us, p99 70.00 us, max 70.00 us\n"
			      "        768 ns   9   90.00 %  ################## p50 p90\n            ..\n"
			      "      65.54 us   1   10.00 %  ## p99\n"));
	free(said);
	setenv("LC_ALL", "C.UTF-8", 1);
	begin(&t, true);
	call(&t, 0, LAUNCH, 1000, 2000, 0, 0, str(&t, "_Z3addPf"), 0);
	said = ask_hist(end(&t), NULL, "kind,tid", "dur", &o, GT_TEXT);
	CHECK(said && strstr(said, "  call, TID 100\n    1 row, p50") && strstr(said, "██ p50 p90 p99\n"));
	free(said);
}

static void histograms_are_of_quantities(void)
{
	struct gt_err err = GT_ERR_INIT;
	const char *option, *wrong;

	CHECK(!gt_query_new_hist(NULL, NULL, "name", &option, &wrong, &err) && !strcmp(option, "--of") && err.offset == 0);
	err = (struct gt_err)GT_ERR_INIT;
	CHECK(!gt_query_new_hist(NULL, NULL, "quue", &option, &wrong, &err) && strstr(err.text, "is 'queue' meant?"));
}

T_MAIN(T(errors_have_a_place), T(sizes_are_bounded), T(known_counts), T(figures_of_groups), T(several_fields), T(what_is_absent_is_said),
       T(work_of_a_gpu), T(too_many_groups_are_refused), T(random_questions), T(random_questions_of_a_time), T(threads_agree), T(different_values_are_counted),
       T(values_are_the_same_everywhere), T(numbers_are_compared_by_value), T(too_many_values_cannot_be_counted),
       T(histograms_count), T(histograms_are_drawn), T(histograms_are_of_quantities))
