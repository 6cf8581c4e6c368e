# Live bytes as counters, computed from the allocation calls of a program on a simulated GPU: per device and kind, equal to the report memory.
. "$SRC/tests/lib.sh"
C=$B/gtcollect A=$B/gtanalyze X=$B/gtexport prog=$B/guest/fake/memory
on_sim() { env LD_LIBRARY_PATH="$B/sim" SIMGPU_DEVICES=2 "$@"; }
# figure COLUMN FILE: counter, device and this column, for the counters of memory
figure() { "$A" --format tsv counters "$2" 2>/dev/null | awk -F"\t" -v c="$1" 'NR == 1 { for (i = 1; i <= NF; i++) k[$i] = i } $k["counter"] ~ /^live_/ { printf "%s %s %d\n", $k["counter"], $k["device"], $k[c] }' | sort; }

want kinds 0 on_sim "$C" -q -f -o kinds.zst -- "$prog"
figure max kinds.zst >got
cat >expected <<'END'
live_device_bytes 0 3145728
live_device_bytes 1 3145728
live_host_bytes  7344128
live_managed_bytes  6291456
live_pool_bytes 0 5242880
live_virtual_bytes 1 4194304
END
same kinds-and-devices expected got

# the report memory uses the same calls: on one device the peaks of each kind are equal
want one 0 env LD_LIBRARY_PATH="$B/sim" "$C" -q -f -o leak.zst -- "$B/samples/leak"
"$A" --format tsv memory leak.zst 2>/dev/null | awk -F"\t" '$1 == "kind" { for (i = 1; i <= NF; i++) k[$i] = i } $1 == "device" { print $k["peak_bytes"] }' >report
figure max leak.zst | awk '{ print $3 }' >counter
same agrees-with-the-report report counter
"$A" --format tsv memory kinds.zst 2>/dev/null | awk -F"\t" '$1 == "kind" { for (i = 1; i <= NF; i++) k[$i] = i } $1 == "physical" { print $k["peak_bytes"], $k["live_bytes"] }' >report
is agrees-on-what-is-mapped "4194304 0" "$(cat report)"

# a process that has ended uses no memory
is the-dead-hold-nothing 0 "$(figure last kinds.zst | awk '{ n += $3 } END { print n + 0 }')"

# the counters are on the track of the GPU's work
want gpu 0 env LD_LIBRARY_PATH="$B/sim" "$C" -q -f -e api,gpu -o gpu.zst -- "$B/samples/train" -n 3
want chrome 0 "$X" --chrome -o gpu.json gpu.zst
is one-track-a-device 1 "$(grep -c '"process_name".*"GPU 0' gpu.json)"
check chrome-has-them grep -q '"name":"live_device_bytes","cat":"memory","ph":"C".*"args":{"value":1835008}' gpu.json

# the number of counter rows is limited: fewer than one for each pair of calls
want many 0 on_sim "$C" -q -f -o many.zst -- "$prog" many
is many-peak "live_device_bytes 0 28672" "$(figure max many.zst)"
calls=$("$A" --format tsv header many.zst 2>/dev/null | awk -F"\t" 'NR == 1 { for (i = 1; i <= NF; i++) k[$i] = i } NR == 2 { print $k["calls"] }')
samples=$(figure samples many.zst | awk '{ print $3 }')
check many-are-few-rows test "$calls" -gt 200000 -a "$((samples * 20))" -lt "$calls"

# no counters when they would be wrong; a note when they may be wrong
want none 0 on_sim "$C" -q -f --args none -o none.zst -- "$prog"
want some 0 on_sim "$C" -q -f --exclude 'cuMemFreeAsync' -o some.zst -- "$prog"
is none-without-arguments "" "$(figure max none.zst)"
is none-without-all-calls "" "$(figure max some.zst)"
want less 0 on_sim "$C" -q -f --exclude @query -o less.zst -- "$prog"
figure max less.zst >got
same queries-do-not-matter expected got
"$A" counters kinds.zst >out 2>&1
is certain 0 "$(grep -c 'not certain' out)"
