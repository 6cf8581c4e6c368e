# docs/from-bpftrace.md: each command of its table "Ask" works on the JSON lines of an eBPF script.
. "$SRC/tests/lib.sh"
PATH=$B:$PATH
cat >script.jsonl <<'E'
{"event_id":1,"ts":0.001,"type":"userspace","name":"cuInit","phase":"B"}
{"event_id":2,"ts":0.002,"type":"userspace","name":"cuInit","phase":"E"}
{"event_id":3,"ts":0.003,"type":"userspace","name":"cuCtxCreate_v2","phase":"B"}
{"event_id":4,"ts":0.004,"type":"kernel","name":"nvidia_ioctl","duration_us":120.5}
{"event_id":5,"ts":0.005,"type":"userspace","name":"cuCtxCreate_v2","phase":"E"}
{"event_id":6,"ts":0.006,"type":"memory","name":"cuMemAlloc_v2","size":1048576}
{"event_id":7,"ts":0.007,"type":"userspace","name":"cuLaunchKernel","phase":"B"}
{"event_id":8,"ts":0.008,"type":"userspace","name":"cuLaunchKernel","phase":"E"}
{"event_id":9,"ts":0.009,"type":"scheduler","name":"nv_sched_run","duration_us":3.25}
{"event_id":10,"ts":0.010,"type":"userspace","name":"cuLaunchKernel","phase":"B"}
{"event_id":11,"ts":0.011,"type":"userspace","name":"cuLaunchKernel","phase":"E"}
E
# commands TITLE: the commands in a section of the page
commands() { sed -n "/^## $1/,/^## /p" "$SRC/docs/from-bpftrace.md" | grep '^|' | grep -o '`gt[a-z]* [^`]*FILE`' | tr -d '`'; }
commands Ask >asked
check page-has-commands test "$(wc -l <asked)" -ge 12
while read -r command; do
	want "answers: $command" 0 sh -c "$(echo "$command" | sed 's/FILE/script.jsonl/')"
	check "says something: $command" test -s want.out
done <asked
answer() { "$B/gtanalyze" --format csv "$@" script.jsonl 2>/dev/null; }
is summary-counts-scheduler-calls 1 "$(answer summary | grep -A1 scheduler_calls | tail -n 1 | awk -F, '{ print $NF }' | tr -d '\r')"
is histogram-of-the-scheduler 1 "$(answer histogram --where layer==scheduler | grep -c nv_sched_run)"
is events-of-contexts 1 "$(answer contexts | grep -c '^create,')"
# gtcollect has each option that the page names.
"$B/gtcollect" --help >help
for option in $(grep -o 'gtcollect [^`]*`' "$SRC/docs/from-bpftrace.md" | grep -oE -- '(^| )--?[a-z-]+' | sort -u); do
	check "gtcollect-has-$option" grep -qE -- "^ .*[ ]*$option[, =]" help
done
