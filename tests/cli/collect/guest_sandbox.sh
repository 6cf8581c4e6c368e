# Programs that forbid system calls to themselves, rename their threads, or leave calls by longjmp.
. "$SRC/tests/lib.sh"
C=$B/gtcollect A=$B/gtanalyze
unset XDG_RUNTIME_DIR

meta() { "$A" --format tsv metadata "$2" 2>/dev/null | tr -d '\r' | sed -n "s/^$1	//p"; }	# meta KEY FILE
named() { "$A" --format tsv threads names.zst 2>/dev/null | grep -c later-name; }

# ---- after its first call a thread makes no system call of the library ----
on_sim="env LD_LIBRARY_PATH=$B/sim${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
if $on_sim "$B/samples/train" -n 20 -s 1 >alone 2>&1; then
	for way in '-e api' '-e api --args all' '-e api,ioctl' '-e api,nvtx'; do
		want "sandbox $way" 0 $on_sim "$C" -q -f $way -o s.zst -- "$B/samples/train" -n 3000 -s 1
		check "sandbox $way ends" grep '^3000 steps in a sandbox' want.out
		check "sandbox $way is recorded" test "$("$A" top --top 0 --format csv s.zst | awk -F, '$1 == "cuLaunchKernel" { print $3 }')" -eq 48000
	done
else skip sandbox "this machine has no seccomp filters"; fi

# ---- a thread is renamed later ----
mkfifo hold
"$C" -q -f -o names.zst "$B/guest/fake/linked" renamed <hold &
exec 5>hold
until_it_is 1 named
is later-name-while-it-runs 1 "$(named)"
exec 5>&-
wait
is later-name 1 "$(named)"

# ---- calls that end by longjmp ----
want jump 0 "$C" -f -o jump.zst "$B/guest/fake/linked" jump
says jump-is-reported '1 call has no record: left by longjmp or an exception'
check jump-is-no-full-ring sh -c '! grep -q "rings were full" want.out'
check jump-in-reports sh -c '"$0" header jump.zst 2>&1 | grep -q "1 call has no record: longjmp or an exception ended it"' "$A"
is jump-in-the-header '1 0 0' "$(meta abandoned_calls jump.zst) $(meta handler_calls jump.zst) $(meta dropped_calls jump.zst)"
