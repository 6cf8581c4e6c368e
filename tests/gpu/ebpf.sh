#!/bin/bash
# ebpf.sh PORTABLE-TARBALL OUT: gtcollect -p on a running PyTorch program and -a on one that starts later: counts of calls beside
# those that the program and preload give, and what a step costs with and without. Needs root. Prints PASS and FAIL lines; exit
# status 1: something failed. Takes a minute and a half.
. "$(dirname "$0")/ebpf_helpers.sh"
calls() { gtanalyze top --top 0 --format csv "$2" 2>/dev/null | awk -F, -v n="$1" '$1 == n { s += $3 } END { print s + 0 }'; }
figure_calls() { gtanalyze top --top 0 --format csv "$out/calls.zst" 2>/dev/null | awk -F, '$1 ~ /^cu/ { s += $3 } END { print s + 0 }'; }

start_loop
phase alone 2000
record() { # NAME EVENTS
	gtcollect -v -f -e "$2" -o "$out/$1.zst" -p $loop 2>"$out/$1.err" &
	recorder=$!
	says 'recording' "$out/$1.err"
	phase "$1" 2000
	kill -INT $recorder; wait $recorder
	tail -n 2 "$out/$1.err"
}
record calls api
phase alone-again 2000
record waits sched
record both api,sched
phase alone-last 2000
exec 5>&-
wait $loop
check "the program ends well" test $? -eq 0
cat "$out/loop.txt"
check "launches are those of the program: $(calls cuLaunchKernel "$out/calls.zst") of 100000" test "$(calls cuLaunchKernel "$out/calls.zst")" -eq 100000
check "launches with scheduling: $(calls cuLaunchKernel "$out/both.zst") of 100000" test "$(calls cuLaunchKernel "$out/both.zst")" -eq 100000
gtanalyze --no-pager offcpu "$out/waits.zst" 2>/dev/null | sed -n 1,14p
ls -l "$out"/*.zst

# a program that starts later, and the same by preload: function by function
python3 -c 'import torch, time; torch.zeros(1, device="cuda"); print("ready", flush=True); time.sleep(60)' >"$out/idle.txt" 2>&1 &
idle=$!
says ready "$out/idle.txt"
gtcollect -v -f -o "$out/all.zst" -a 2>"$out/all.err" &
recorder=$!
says 'recording' "$out/all.err"
echo "once 20" | python3 "$here/ebpf_loop.py" >"$out/later.txt" 2>&1
kill -INT $recorder; wait $recorder
tail -n 2 "$out/all.err"
kill $idle
echo "once 20" | gtcollect -q -f -e api,ioctl -o "$out/preload.zst" -- python3 "$here/ebpf_loop.py" >"$out/preload.txt" 2>&1
for f in all preload; do
	gtanalyze top --top 0 --format csv "$out/$f.zst" 2>/dev/null | awk -F, '$1 ~ /^(cu|ioctl|open|mmap)/ { print $1, $3 }' | sort >"$out/$f.counts"
done
diff "$out/all.counts" "$out/preload.counts" >"$out/counts.diff"
echo "functions: $(wc -l <"$out/preload.counts"), that differ: $(grep -c '^>' "$out/counts.diff")"
head -n 20 "$out/counts.diff"
check "requests have the driver's status" sh -c "gtexport --jsonl -o - '$out/all.zst' 2>/dev/null | grep -q 'RM_CONTROL.*status'"
check "launches of the later program" test "$(calls cuLaunchKernel "$out/all.zst")" -eq "$(calls cuLaunchKernel "$out/preload.zst")"
python3 - "$out/loop.txt" "$(figure_calls)" <<'P'
import json, sys

us = {p["phase"]: p["us"] for p in map(json.loads, open(sys.argv[1])) if "phase" in p}
calls = int(sys.argv[2]) / 2000
alone = sorted(us[k] for k in us if k.startswith("alone"))[1]
for name in ("calls", "waits", "both"):
    print(f"{name}: {us[name]:.1f} us a step, alone {alone:.1f}: {(us[name] / alone - 1) * 100:+.1f} %, {(us[name] - alone) / calls * 1000:+.0f} ns for each of {calls:.0f} calls")
P
exit $failed
