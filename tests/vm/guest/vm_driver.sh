# Functions of the driver on this kernel, by kprobes: those of the stand-in driver, whose calls are known.
. "$SRC/tests/lib.sh"
G=$B/gtcollect A=$B/gtanalyze

want records 0 "$G" -f --kernel -o d.zst -- "$B/bpf/driver_requests"
check driver-is-not-missing sh -c '! grep -q "driver functions" want.err'
is nothing-is-lost 0 "$(figure lost d.zst)"
"$A" --format csv --top 0 driver d.zst >d.csv 2>/dev/null
# column CALLER FUNCTION NAME: of the table of functions
column() { awk -F, -v caller="$1" -v f="$2" -v name="$3" '/(^|,)caller(,|$)/ { for (i = 1; i <= NF; i++) c[$i] = i }
	c["caller"] && $c["function"] == f && $c["caller"] == caller { print $c[name] }' d.csv; }
is functions-under-requests "10 5" "$(column '' nv_ctx_switch count) $(column '' uvm_map_range count)"
is functions-under-functions 10 "$(column nv_ctx_switch nv_sched_pick_channel count)"
check requests-have-names test -n "$(column '' nv_ctx_switch request)"
# each waits 50 us
check times-are-those-of-the-driver test "$(column '' nv_ctx_switch self_ns)" -ge 500000
is context-events 10 "$("$A" --format csv --top 0 contexts d.zst 2>/dev/null | awk -F, '$1 == "in the kernel" { print $2 }')"

# ---- by its name, with arguments and result; one that does not exist ----
want kprobe 0 "$G" -f -o k.zst --kprobe 'uvm_map_range(1)' -- "$B/bpf/driver_requests"
"$B/gtexport" --jsonl -f -o k.jsonl k.zst 2>/dev/null
is arguments-and-result 1 "$(grep -c '"name":"uvm_map_range".*"arg0":"0xb","return":"0xfffff*5"' k.jsonl)"
want no-function 125 "$G" -o none.zst --kprobe uvm_map_rang true
says no-function-is-reported 'similar is uvm_map_range'
# a function that gets a probe and one that the kernel refuses, together
want some 0 "$G" -f -o s.zst --kprobe 'nv_*' -- "$B/bpf/driver_requests"
"$B/gtexport" --jsonl -f -o k.jsonl s.zst 2>/dev/null
is all-of-a-glob "10 10" "$(grep -c '"phase":"B","name":"nv_ctx_switch"' k.jsonl) $(grep -c '"phase":"B","name":"nv_sched_pick_channel"' k.jsonl)"
