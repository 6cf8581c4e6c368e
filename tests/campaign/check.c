/* Compares a trace with the truth file of the recorded program. Reads the trace as gtexport --jsonl
 * writes it (standard input) and its header as gtanalyze header --format tsv writes it (HEADER).
 * Usage: check TRUTH HEADER PROMISE <JSONL
 * PROMISE is gtcollect's --wait (primary or all), or "nothing" if one of the programs overwrote
 * memory that is not its own: then only gtcollect itself is checked.
 *
 * Prints a line for each fault. The last line has the figures that tests/campaign.sh adds up:
 * victim, 1 if the kill was effective, calls that returned, calls recorded, calls lost that the
 * trace must have, ms before the kill that the file lacks, 1 if the calls of the process that
 * overwrote its ring are not all recorded, 1 if gtcollect did not end with the status of a program
 * that came to its end. Exit status 1 after a fault.
 *
 * If the recorder lived, the trace must have all calls that returned, and the call in which a
 * thread died as open or as recorded. If the recorder was killed, it must have all calls that
 * returned before the time up to which the file says that it is complete. It never has more calls
 * than were started, and the calls that carry a number carry 0, 1, 2 ... without a gap. */
#define _GNU_SOURCE
#include <signal.h>
#include "tests/campaign/truth.h"

#define BYTES 65536        /* as in program.c */
#define WORKS (1u << 20)   /* slots of the table of launches, a power of 2 */
#define LATE 2000000000ull /* ns that the file may lack after a kill of the recorder */

struct seen {
	uint64_t ended, begun, sequence;
	int64_t first; /* ns of the trace, of its first call */
	int gap;
};

static const struct truth *truth;
static struct seen seen[TRUTH_THREADS];
static uint64_t unknown_calls; /* calls of no thread of the truth */
static uint64_t lost;          /* calls that the trace must have, and has not */
static int bad;

static uint64_t works[WORKS]; /* process << 32 | correlation, of what ran on the GPU; 0: free */
static uint64_t nworks, launches, launched; /* calls that make the GPU work: begun, ended */

#define WRONG(...) (bad = 1, printf("wrong: " __VA_ARGS__), putchar('\n'))

/* ---- the trace ---- */

static double field(const char *line, const char *name)
{
	char key[64];
	const char *at;

	snprintf(key, sizeof(key), "\"%s\":", name);
	at = strstr(line, key);
	return at ? strtod(at + strlen(key), NULL) : -1;
}

static int slot_of(int pid, int tid)
{
	static int last;

	if (truth->thread[last].pid == pid && truth->thread[last].tid == tid)
		return last;
	for (uint32_t i = 0; i < truth_threads(truth); i++)
		if (truth->thread[i].pid == pid && truth->thread[i].tid == tid)
			return last = (int)i;
	return -1;
}

/* The number that the call carries in its arguments; UINT64_MAX: none. */
static uint64_t number_of(const struct truth_thread *t, const char *line)
{
	const char *at;

	if (t->kind == TRUTH_COPY && strstr(line, "\"name\":\"cuMemcpyDtoH_v2\"") &&
		(at = strstr(line, "\"srcDevice\":")))
		return strtoull(at + strcspn(at, "0123456789"), NULL, 0) - t->base;
	if (t->kind == TRUTH_LAUNCH && strstr(line, "\"name\":\"cuLaunchKernel\"") &&
		(at = strstr(line, "\"gridDimX\":")))
		return strtoull(at + strcspn(at, "0123456789"), NULL, 0) - 1;
	return UINT64_MAX;
}

static void note_work(const char *line)
{
	uint32_t correlation = (uint32_t)field(line, "correlation"); /* 0: a wait */
	uint64_t key = (uint64_t)field(line, "pid") << 32 | correlation,
		 i = key * 0x9e3779b97f4a7c15ull >> 44;

	if (!correlation || nworks > WORKS / 2)
		return;
	while (works[i] && works[i] != key)
		i = (i + 1) % WORKS;
	nworks += !works[i];
	works[i] = key;
}

/* Is it a call that creates GPU work? The launches of a process's first thread are captured. */
static int is_launch(const struct truth_thread *t, const char *name)
{
	return (!strncmp(name, "cuLaunchKernel\"", 15) && t->kind != TRUTH_MAIN) ||
		!strncmp(name, "cuGraphLaunch\"", 14) || !strncmp(name, "cuMemcpyDtoH_v2\"", 16) ||
		!strncmp(name, "cuMemsetD8Async\"", 16);
}

static void take_line(const char *line)
{
	const char *name = strstr(line, "\"name\":\"cu");
	int ends = strstr(line, "\"phase\":\"E\"") != NULL, i;
	uint64_t number;
	struct seen *s;

	if (!ends && strstr(line, "\"launch_start\":"))
		note_work(line);
	if (!name || name[10] < 'A' || name[10] > 'Z')
		return;
	i = slot_of((int)field(line, "pid"), (int)field(line, "tid"));
	if (i < 0) {
		unknown_calls++;
		return;
	}
	s = &seen[i];
	*(ends ? &launched : &launches) += is_launch(&truth->thread[i], name + 8);
	if (ends) {
		s->ended++;
		return;
	}
	if (!s->begun++)
		s->first = (int64_t)(field(line, "ts") * 1e9);
	number = number_of(&truth->thread[i], line);
	if (number == UINT64_MAX)
		return;
	if (number != (truth->thread[i].kind == TRUTH_COPY ? s->sequence % BYTES : s->sequence))
		s->gap = 1;
	s->sequence++;
}

static void read_trace(FILE *f)
{
	static char line[1 << 16];

	while (fgets(line, sizeof(line), f))
		take_line(line);
}

/* The column of that name of the header's only row; -1: it has none. */
static double column(const char *path, const char *name)
{
	char names[4096] = "", row[65536] = "", *at = names, *value = row, *word;
	FILE *f = fopen(path, "re");
	int both = f && fgets(names, sizeof(names), f) && fgets(row, sizeof(row), f);

	if (f)
		fclose(f);
	names[strcspn(names, "\n")] = 0;
	while (both && (word = strsep(&at, "\t"))) {
		char *here = strsep(&value, "\t");

		if (!here)
			break;
		if (!strcmp(word, name))
			return !strcmp(here, "closed") ? 1 : strtod(here, NULL);
	}
	return -1;
}

/* ---- calls ---- */

/* A lower bound of the CLOCK_MONOTONIC time up to which the file is complete; 0: not known. */
static uint64_t complete_until(int64_t complete)
{
	int64_t origin = INT64_MIN, o;

	for (uint32_t i = 0; i < truth_threads(truth); i++) {
		o = (int64_t)truth->thread[i].first_ns - seen[i].first;
		if (seen[i].begun && o > origin)
			origin = o;
	}
	return origin == INT64_MIN ? 0 : (uint64_t)(origin + complete);
}

static uint64_t returned_by(uint32_t i, uint64_t ns)
{
	uint64_t n = 0;

	for (uint32_t k = 0; k < truth->nsamples && truth->sample[k].ns <= ns; k++)
		n = truth->sample[k].returned[i];
	return n;
}

static void check_thread(uint32_t i, uint64_t least, int final)
{
	const struct truth_thread *t = &truth->thread[i];
	const struct seen *s = &seen[i];
	uint64_t open = s->begun - s->ended;
	int died_inside = t->started > t->returned && (t->landed || t->blocked == t->started);

	if (s->ended < least) {
		lost += least - s->ended;
		WRONG("thread %d of %d (kind %u): %llu calls returned, %llu are recorded", t->tid,
			t->pid, t->kind, (unsigned long long)least, (unsigned long long)s->ended);
	}
	if (s->begun > t->started || s->ended > s->begun || open > 1)
		WRONG("thread %d of %d (kind %u): %llu calls begun, %llu are recorded and %llu open",
			t->tid, t->pid, t->kind, (unsigned long long)t->started,
			(unsigned long long)s->ended, (unsigned long long)open);
	if (final && died_inside && s->begun != t->started)
		WRONG("thread %d of %d (kind %u): it died in call %llu, which is neither recorded "
		      "nor open",
			t->tid, t->pid, t->kind, (unsigned long long)t->started);
	if (s->gap)
		WRONG("thread %d of %d (kind %u): the numbers of its calls have a gap or are out "
		      "of order",
			t->tid, t->pid, t->kind);
}

/* The slot of the process that overwrote its ring, to which nothing is promised; NULL: none. */
static const struct truth_thread *find_corrupted(void)
{
	for (uint32_t i = 0; i < truth_threads(truth); i++)
		if (truth->thread[i].kind == TRUTH_CORRUPT)
			return &truth->thread[i];
	return NULL;
}

/* A process that outlives the program's first process runs on untraced without --wait all. */
static void check_threads(uint64_t until, int waits_for_all)
{
	int program_died = truth->hit && truth->victim_pid == truth->main_pid && !truth->main_done;

	for (uint32_t i = 0; i < truth_threads(truth); i++) {
		const struct truth_thread *t = &truth->thread[i];
		int outlives = program_died && !waits_for_all && t->pid != truth->main_pid;

		if (!t->pid || t->kind == TRUTH_CORRUPT)
			continue;
		if (truth->recorder_signal)
			check_thread(i, until ? returned_by(i, until) : 0, 0);
		else
			check_thread(i, outlives ? t->at_kill : t->returned, !outlives);
	}
}

/* gtcollect dies by nothing but our kill. */
static void check_recorder(void)
{
	if (truth->recorder_signal &&
		(truth->recorder_signal != SIGKILL || truth->victim < VICTIM_RECORDER))
		WRONG("gtcollect died by signal %d", truth->recorder_signal);
	if (truth->recorder_status == 125)
		WRONG("gtcollect failed");
	if (truth->recorder_hung)
		WRONG("gtcollect went on after its programs had ended");
}

/* The program ends as without a recorder, unless it was killed itself. */
static void check_ends(void)
{
	int normal = truth->main_pid ? 7 : 0, killed = 0;

	if (truth->hit)
		killed = truth->victim >= VICTIM_RECORDER_FIRST ||
			truth->victim_pid == truth->program;
	if (!truth->recorder_signal && truth->recorder_status != normal &&
		!(killed && truth->recorder_status == 137))
		WRONG("gtcollect ended with %d", truth->recorder_status);
	if (truth->recorder_signal && truth->program && !killed && truth->main_status != normal &&
		!(truth->main_status == -1 && truth->main_done)) /* gtcollect reaped it, and died */
		WRONG("the program ended with %d", truth->main_status);
	if (truth->programs_hung)
		WRONG("the program did not end");
	for (uint32_t i = 0; i < truth_threads(truth); i++)
		if (truth->main_done && !truth->thread[i].done &&
			truth->thread[i].pid != truth->victim_pid &&
			truth->thread[i].kind != TRUTH_CORRUPT)
			WRONG("thread %d of %d did not come to its end", truth->thread[i].tid,
				truth->thread[i].pid);
}

/* Each launch has GPU work in the trace, or is counted as lost. Without -e gpu there is neither. */
static void check_works(double missing)
{
	if ((!nworks && missing <= 0) || truth->recorder_signal || !truth->main_pid)
		return;
	if (nworks + missing < launched || nworks + missing > launches)
		WRONG("%llu launches are recorded, the GPU's work of %llu, and that of %g is "
		      "counted as not known",
			(unsigned long long)launched, (unsigned long long)nworks, missing);
}

/* Returns for how many ns before the kill the file is not complete. */
static uint64_t check_file(const char *header, uint64_t until)
{
	int closed = column(header, "closed") == 1;
	uint64_t late = 0;

	if (truth->recorder_signal && until && truth->kill_ns > until && !closed)
		late = truth->kill_ns - until;
	if (late > LATE)
		WRONG("the file lacks the last %.3f s", (double)late / 1e9);
	if (!truth->recorder_signal && !closed)
		WRONG("the recorder ended and the file is not closed");
	if (column(header, "damaged_blocks") > 0 ||
		(column(header, "lost_unknown") > 0 && !find_corrupted()))
		WRONG("damaged blocks %g, losses of unknown number %g",
			column(header, "damaged_blocks"), column(header, "lost_unknown"));
	if (truth->main_pid && unknown_calls && !find_corrupted())
		WRONG("%llu rows are of threads that made no calls",
			(unsigned long long)unknown_calls);
	return late;
}

/* Was the victim still at work when the signal came? */
static int is_effective(const char *header)
{
	if (truth->victim >= VICTIM_RECORDER && column(header, "closed") == 1)
		return 0;
	if (truth->victim == VICTIM_RECORDER)
		return truth->recorder_signal != 0;
	if (truth->main_pid || truth->victim == VICTIM_CHILD)
		return truth->hit && !truth->victim_done;
	return truth->hit && (truth->recorder_signal || truth->recorder_status == 137);
}

int main(int argc, char **argv)
{
	static const char *const victims[] = TRUTH_VICTIMS;
	uint64_t made = 0, recorded = 0, until, late;
	int harmed = 0;

	if (argc < 4)
		return 2;
	truth = truth_open(argv[1]);
	read_trace(stdin);
	until = complete_until((int64_t)column(argv[2], "complete_to_ns"));
	check_recorder();
	if (strcmp(argv[3], "nothing")) {
		check_threads(until, !strcmp(argv[3], "all"));
		check_ends();
		if (!find_corrupted())
			check_works(column(argv[2], "lost"));
	}
	late = check_file(argv[2], until);
	for (uint32_t i = 0; i < truth_threads(truth); i++) {
		if (&truth->thread[i] == find_corrupted()) {
			harmed = seen[i].ended < truth->thread[i].returned ||
				seen[i].begun > truth->thread[i].started;
			continue;
		}
		made += truth->thread[i].returned;
		recorded += seen[i].ended;
	}
	printf("%s %d %llu %llu %llu %llu %d %d\n", victims[truth->victim], is_effective(argv[2]),
		(unsigned long long)made, (unsigned long long)recorded, (unsigned long long)lost,
		(unsigned long long)(late / 1000000), harmed, truth->recorder_status != 7);
	return bad;
}
