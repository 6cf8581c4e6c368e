/* The syntax of -e usdt: and --pair. */
#include "collect/probes/probe_selection.h"
#include "tests/unit/t.h"

static struct gt_probe_selection s;
static struct gt_err err;

static int events(const char *list)
{
	gt_probe_selection_release(&s);
	return gt_probe_selection_events(&s, list, &err);
}

static void patterns(void)
{
	CHECK_EQ(events("api,usdt:web:request_*,sched,usdt:py*:gc(arg0:str arg11:hex)"), 0);
	CHECK_EQ(s.nusdt, 2);
	CHECK_STR(s.usdt[0].provider, "web");
	CHECK_STR(s.usdt[0].name, "request_*");
	CHECK_EQ(s.usdt[0].kinds[0], GT_PROBE_KINDS);
	CHECK_EQ(s.usdt[1].kinds[0], GT_PROBE_TEXT);
	CHECK_EQ(s.usdt[1].kinds[11], GT_PROBE_HEX);
	CHECK(gt_probe_selection_find(&s, "web", "request_start") == &s.usdt[0]);
	CHECK(gt_probe_selection_find(&s, "python", "gc") == &s.usdt[1]);
	CHECK(!gt_probe_selection_find(&s, "web", "other"));
	CHECK(gt_probe_selection_names(&s, "we") && !gt_probe_selection_names(&s, "parcagpu"));
	CHECK_EQ(events("usdt"), 0);
	CHECK(gt_probe_selection_find(&s, "anything", "at_all"));
	CHECK_EQ(events("usdtx,api"), 0);
	CHECK_EQ(s.nusdt, 0);
	gt_probe_selection_release(&s);
}

static void wrong_patterns(void)
{
	static const char *const all[] = { "usdt:", "usdt:a", "usdt:a:", "usdt::b", "usdt:a:b(",
		"usdt:a:b()", "usdt:a:b(arg0)", "usdt:a:b(arg0:x)", "usdt:a:b(arg12:str)",
		"usdt:a:b(arg0:str", "usdt:a:b(arg:str)", "usdt:a:b(arg0:str)x" };

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		CHECK_EQ(events(all[i]), -EINVAL);
	gt_probe_selection_release(&s);
}

static int pair(const char *text)
{
	gt_probe_selection_release(&s);
	return gt_probe_selection_pair(&s, text, &err);
}

static void pairs(void)
{
	static const char *const wrong[] = { "", "start=a", "start=a,end=b", "start=a,end=b,key=x",
		"start=a,end=b,key=arg12", "start=,end=b,key=arg0", "start=a,end=b,key=arg0,x=y" };

	CHECK_EQ(pair("start=web:a,end=b,key=arg1"), 0);
	CHECK_STR(s.pairs[0].start, "web:a");
	CHECK_STR(s.pairs[0].end, "b");
	CHECK_EQ(s.pairs[0].key, 1);
	CHECK(gt_probe_has_name("web", "a", "web:a") && gt_probe_has_name("web", "a", "a"));
	CHECK(!gt_probe_has_name("web", "a", "other:a") && !gt_probe_has_name("web", "a", "web:b"));
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		CHECK_EQ(pair(wrong[i]), -EINVAL);
	gt_probe_selection_release(&s);
}

T_MAIN(T(patterns), T(wrong_patterns), T(pairs))
