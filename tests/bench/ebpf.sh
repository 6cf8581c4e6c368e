# What a recording by eBPF costs and takes. Needs root; prints nothing without. On the simulated driver.
#	ebpf_attach_ms, ebpf_detach_ms	from gtcollect's start until it says that it records a process with a probe in each function
#			of the API table (672), which the library of this bench has; from the signal until gtcollect has ended
#	ebpf_many_attach_ms, ebpf_many_detach_ms	the same with 300 --probe for 300 files; median of five
#	ebpf_recorder_cores_at_1m	processor time of gtcollect for a million calls: the cores that it needs at a million calls a
#			second; ebpf_calls_per_s: what two threads reached meanwhile; a loss is a failure. SECONDS_AT_RATE=60: so
#			long, in place of 10 s
#	ebpf_bytes_per_call	of a program that waits for each kernel, and by preload (_preload); ebpf_short_bytes_per_call: of a
#			training loop, whose calls of the simulated driver take some ns by preload and a us with probes: times that
#			vary more need more bytes
#	ebpf_bytes_per_sched_row	of a program of which two threads wake each other
G=$B/gtcollect A=$B/gtanalyze
export LD_LIBRARY_PATH="$B/sim"
median() { sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }
rows() { "$A" header --format tsv "$1" 2>/dev/null | awk -F '\t' -v key="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == key) c = i } NR == 2 { print $c }'; }
"$G" --doctor 2>/dev/null | grep -q '^ok *ebpf' || exit 0

# ---- attach and detach ----
{ grep -o '^GT_API(cu[A-Za-z0-9_]*' "$SRC/formats/cuda/cuda_api.def" | sort -u | sed 's/GT_API(\(.*\)/int \1(int *p) { *p = 1; return 0; }/'; } >many.c
${CC:-cc} -O0 -fcf-protection=none -shared -fPIC -Wl,-soname,libcuda.so.1 many.c -o libcuda.so.1 || exit 1
# hold LIBRARY THREADS CALLS: a process that has loaded the library; it makes its calls after each line that is written to 7.
hold() {
	rm -f in out
	mkfifo in
	: >out
	"$B/bpf/gated_calls" "$@" <in >out 7>&- &
	held=$!
	exec 7>in
	while ! grep -q loaded out; do kill -0 $held || exit 1; done
}
record() {	# FILE OPTIONS: starts gtcollect, and waits until it records
	recorded=$1; shift
	rm -f says
	mkfifo says
	"$G" -f -e api -o "$recorded" -p $held "$@" 2>says 7>&- &
	recorder=$!
	exec 6<says
	read -r line <&6
	case $line in *": recording "*) ;; *) echo "$line" >&2; exit 1 ;; esac
}
attach_and_detach() {	# TIMES COUNTS OPTIONS: prints how long each took, in us
	times=$1 counts=$2; shift 2
	for i in $(seq "$times"); do
		t0=$(date +%s%N)
		record attach.zst "$@"
		t1=$(date +%s%N)
		kill -INT $recorder
		wait $recorder
		t2=$(date +%s%N)
		echo "attach $(((t1 - t0) / 1000)) detach $(((t2 - t1) / 1000))"
		case $line in *"$counts"*) ;; *) echo "$line" >&2; return 1 ;; esac
	done
}
hold ./libcuda.so.1 1 1
attach_and_detach 9 '(672 functions' >times || exit 1
exec 7>&-
medians() { for what in 2:attach 4:detach; do awk -v c="${what%:*}" '{ print $c / 1000 }' times | median | sed "s/.*/$1_${what#*:}_ms & ms/"; done; }
medians ebpf

# ---- the same with many links ----
files= probes=
for i in $(seq 300); do
	cp "$B/bpf/functions" "file$i" || exit 1
	files="$files ./file$i" probes="$probes --probe file$i:outer"
done
rm -f in
mkfifo in
: >out
"$B/bpf/many_files" $files <in >out 7>&- &
held=$!
exec 7>in
while ! grep -q mapped out; do kill -0 $held || exit 1; done
attach_and_detach 5 '(300 functions of 300 libraries)' $probes >times || exit 1
exec 7>&-
medians ebpf_many

# ---- a million calls a second ----
hold "$B/sim/libcuda.so.1" 2 "$((${SECONDS_AT_RATE:-10} * 400000))"
record rate.zst
t0=$(date +%s%N)
echo >&7
while [ "$(wc -l <out)" -lt 2 ]; do sleep 0.05; done
t1=$(date +%s%N)
exec 7>&-
used=$(awk '{ print ($14 + $15) }' /proc/$recorder/stat)
wait $recorder
lost=$(rows rate.zst lost)
[ "$lost" = 0 ] || { echo "$lost calls are lost" >&2; exit 1; }
awk -v n="$(tail -n 1 out)" -v ticks="$used" -v hz="$(getconf CLK_TCK)" -v ns=$((t1 - t0)) 'BEGIN {
	printf "ebpf_recorder_cores_at_1m %.3f cores\nebpf_calls_per_s %.0f calls/s\n", ticks / hz / n * 1e6, n / ns * 1e9 }'

# ---- bytes ----
size() {	# NAME PROGRAM...: bytes of its recording by eBPF and by preload, by its calls
	name=$1; shift
	for via in ebpf preload; do
		stacks=; [ $via = ebpf ] || stacks='--stacks none' # eBPF records none
		"$G" --via $via -q -f -e api $stacks -o $via.zst -- "$@" >/dev/null || exit 1
		peer=; [ $via = ebpf ] || peer=_preload
		awk -v bytes="$(stat -c %s $via.zst)" -v n="$(rows $via.zst calls)" -v name="$name$peer" 'BEGIN { printf "%s %.3f B\n", name, bytes / n }'
	done
}
size ebpf_bytes_per_call "$B/samples/sync_every_launch" -n 5000
size ebpf_short_bytes_per_call "$B/samples/train" -n 2000
cat >wake.c <<'END'
#include <pthread.h>
#include <unistd.h>
static int to[2], back[2];
static void *answer(void *arg)
{
	char c;
	while (read(to[0], &c, 1) == 1 && write(back[1], &c, 1) == 1)
		;
	return arg;
}
int main(void)
{
	pthread_t t;
	char c = 0;
	if (pipe(to) || pipe(back) || pthread_create(&t, NULL, answer, NULL))
		return 1;
	for (long i = 0; i < 200000; i++)
		if (write(to[1], &c, 1) != 1 || read(back[0], &c, 1) != 1)
			return 1;
	return 0;
}
END
${CC:-cc} -O2 wake.c -pthread -o wake || exit 1
"$G" -q -f -e sched -o sched.zst -- ./wake || exit 1
"$A" offcpu --top 0 --format csv sched.zst >sched.csv 2>/dev/null
awk -v bytes="$(stat -c %s sched.zst)" -v n="$(rows sched.zst spans)" 'BEGIN { printf "ebpf_bytes_per_sched_row %.3f B\n", bytes / n }'
