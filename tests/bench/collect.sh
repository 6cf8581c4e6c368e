# The cost of recording a call: a 1 ns function of the simulated driver, called in a tight loop for
# ten seconds. Prints the additional ns per call and calls per second. The bench fails if a call
# was lost. Then, if uftrace is installed, the same loop under uftrace, without special build
# options, as users build programs (uftrace hooks calls through the PLT; with -pg it costs about a
# tenth less per call), and its report and its Chrome dump of the recording.
cat >loop.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
int cuInit(unsigned flags);
int cuCtxGetCurrent(void **context);
static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1e9 + t.tv_nsec; }
int main(int argc, char **argv)		/* loop CALLS, or loop 0 SECONDS */
{
	long n = atol(argv[1]), step = n ? n : 1000000, calls = 0;
	double seconds = argc > 2 ? atof(argv[2]) : 0, from, took;
	void *context;

	cuInit(0);
	from = now();
	do {
		for (long i = 0; i < step; i++)
			cuCtxGetCurrent(&context);
		calls += step;
		took = now() - from;
	} while (!n && took < seconds * 1e9);
	printf("%.3f %ld %.6f\n", took / calls, calls, took / 1e9);
	return 0;
}
END
${CC:-cc} -O2 loop.c -Wl,-z,lazy -L"$B/sim" -lcuda -o loop || exit 1
export LD_LIBRARY_PATH="$B/sim"

median() { sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }
plain=$(for i in 1 2 3 4 5; do ./loop 20000000; done | median)
# Without -e gpu, because the simulated CUPTI then processes every simulated call, which takes
# longer than all that is measured here.
"$B/gtcollect" -f -e api,ioctl -o trace.zst -- ./loop 0 10 >out 2>err || { cat err >&2; exit 1; }
grep -q 'no losses' err || { cat err >&2; exit 1; }
awk -v plain="$plain" '{ printf "collect_ns_per_call %.2f ns\nrecord_calls_per_s %.0f calls/s\n", $1 - plain, $2 / $3 }' out
awk -v calls="$(awk '{ print $2 }' out)" -v bytes="$(stat -c %s trace.zst)" 'BEGIN { printf "loop_bytes_per_call %.3f B\n", bytes / calls }'
rm -f trace.zst
command -v uftrace >/dev/null || exit 0

seconds() {	# processor seconds of a command, user and system
	( "$@" >/dev/null 2>&1; times ) | awk 'NR == 2 { split($1, u, /[ms]/); split($2, s, /[ms]/); print u[1] * 60 + u[2] + s[1] * 60 + s[2] }'
}
best=
for try in 1 2 3; do
	rm -rf data
	traced=$(timeout 60 uftrace record --force -b 8M --no-event -d data ./loop 5000000 2>err | tail -n 1 | awk '{ print $1 }') || exit 1
	best=$(awk -v b="$best" -v p="$plain" -v t="$traced" 'BEGIN { print b == "" || t - p < b ? t - p : b }')
done
echo "collect_ns_per_call_uftrace $best ns"
kept=$(uftrace report -d data --format=csv 2>/dev/null | awk -F, '/cuCtxGetCurrent/ { print $3 }')
[ -n "$kept" ] || kept=$(uftrace report -d data 2>/dev/null | awk '$NF == "cuCtxGetCurrent" { print $(NF - 1) }')
du -sb data | awk -v n="$kept" '{ printf "bytes_per_call_uftrace %.1f B\n", $1 / n }'
for what in 'analyze report' 'chrome dump --chrome'; do
	set -- $what
	name=$1; shift
	awk -v n="$kept" -v name="$name" -v s="$(seconds uftrace "$@" -d data)" 'BEGIN { printf "%s_calls_per_s_core_uftrace %.0f calls/s\n", name, n / s }'
done
