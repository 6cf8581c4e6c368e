# Another user of CUPTI in the recorded process, such as torch.profiler: its results are the same as without gtcollect, and gtcollect
# reports the time in which it did not use CUPTI.
. "$SRC/tests/lib.sh"
C=$B/gtcollect rows=$B/unit/gpu_rows_prog prog=$B/guest/fake/profiler
meta() { zstd -dcq "$2" | LC_ALL=C grep -ao "\"$1\":[^,}]*" | tail -n 1 | cut -d: -f 2- | tr -d '"'; }
alone() { PAUSE_MS=0 LD_LIBRARY_PATH=$B/sim "$prog" $1 | tail -n 1; }
alone=$(alone "")
is it-works-alone '100 kernels, 100 in its clock, 0 buffers of others' "$alone"

# beside NAME HOW OURS [VAR=VALUE...]: records NAME.zst, in which gtcollect has OURS kernels. The program waits between its phases until
# the library has stopped or resumed its use of CUPTI, or for a fixed time when it does not resume.
ours() { "$rows" rows $1.zst | grep -c kernel; }
beside() {
	beside_name=$1 beside_how=$2 beside_ours=$3 pause=60000; shift 3
	[ "$beside_ours" != 50 ] || pause=1200
	want $beside_name 0 env LD_LIBRARY_PATH="$B/sim" PAUSE_MS=$pause "$@" timeout 100 "$C" -f -e api,gpu -o $beside_name.zst -- "$prog" $beside_how
}

for how in '' linked; do
	name=${how:-loaded}
	# when the program pauses between its two registrations, the library takes the first one for ended
	for again in 1 2 3 4 5; do
		beside $name "$how" 150
		[ "$(meta gpu_yields $name.zst)" != 2 ] || break
	done
	is $name-sees-the-same "$alone" "$(tail -n 1 want.out)"
	is $name-yields-twice '2 2' "$(meta gpu_yields $name.zst) $(meta gpu_resumed $name.zst)"
	is $name-ours-are-there 150 "$(ours $name)"
	is $name-all-joined "150 0" "$(meta gpu_joined_exact $name.zst) $(meta gpu_launches_without_record $name.zst)"
	is $name-no-mixed-clocks 0 "$(meta gpu_records_impossible $name.zst)"
	is $name-names-the-other-profiler "the program itself" "$(meta gpu_other_profiler $name.zst)"
	"$B/gtanalyze" $name.zst >r.txt 2>&1
	check $name-losses-are-reported sh -c '! grep -q "no losses" r.txt'
done

beside finalize finalize 50
is finalize-sees-the-same "$(alone finalize)" "$(tail -n 1 want.out)"
is finalize-ours-before-it 50 "$(ours finalize)"

# missing GPU work is reported, because it would look like idle time
beside reported '' 150
says reported-in-the-last-lines '-e gpu: the program itself used CUPTI for [0-9]*\.[0-9][0-9] s: the GPU work of that time is missing$'
says reported-without-lost-calls ', no calls lost, '
beside reported-end finalize 50
says reported-to-the-end ' s, to the end: the GPU work of that time is missing$'

# Records that arrive after the other user has started CUPTI may have its clock: they are dropped and reported as lost.
# (The library waits for them, longer on a slow machine. The simulated delay must end after the wait and before the other user ends.)
for back in 300 500 800 1200 1800 2700; do
	beside back '' 100 SIM_CUPTI_BACK_MS=$back
	[ "$(ours back)" != 100 ] || [ "$(meta gpu_records_foreign back.zst)" -lt 50 ] || break
done
says back-is-reported "GPU work lost: [0-9]* in another profiler's clock$"
is back-sees-the-same "$alone" "$(tail -n 1 want.out)"
is back-ours "100 0 0" "$(ours back) $(meta gpu_records_impossible back.zst) $(meta gpu_joined_wrong back.zst)"
check back-is-lost test "$(figure lost back.zst)" -ge 50
check back-gives-the-reason test "$(meta gpu_records_foreign back.zst)" -ge 50
is back-has-no-dropped-records 0 "$(meta gpu_records_lost back.zst)"
"$B/gtanalyze" header back.zst >r.txt 2>&1
check back-is-reported grep -q "GPU: [0-9]* records have times of another profiler's clock" r.txt

# without -e gpu the program can use CUPTI
want off 0 env LD_LIBRARY_PATH="$B/sim" "$C" -q -f -o off.zst -- "$prog"
is off-sees-the-same "$alone" "$(tail -n 1 want.out)"

# the other user is first; starts late; only registers; calls from its own thread, or within a callback of CUPTI; the library cannot resume
other() {	# other NAME HOW OURS [VAR=VALUE]: the program's results are as without gtcollect; gtcollect has OURS kernels, all joined
	name=$1 how=$2 ours=$3; shift 3
	beside $name "$how" $ours "$@"
	is $name-sees-the-same "$(alone $how)" "$(tail -n 1 want.out)"
	is $name-ours "$ours 0" "$(ours $name) $(meta gpu_launches_without_record $name.zst)"
	is $name-joined-exactly "$ours 0" "$(meta gpu_joined_exact $name.zst) $(meta gpu_joined_wrong $name.zst)"
	is $name-no-rows-of-the-runtime 0 "$(meta gpu_runtime_calls $name.zst)"
}
other first first 100
other late late 150
other idle idle 100
other calls calls 150
other runtime runtime 150
other slow slow 150
# a CUPTI that cannot select single driver functions records all of them
beside old '' 150 SIM_CUPTI_VERSION=23
is old-joined '150 0 0' "$(meta gpu_joined_exact old.zst) $(meta gpu_joined_inferred old.zst) $(meta gpu_unjoined old.zst)"
want ends 0 env LD_LIBRARY_PATH="$B/sim" SIM_CUPTI_ALONE_MS=300 "$C" -q -f -e api,gpu -o ends.zst -- "$prog" ends
other thread thread 150
is thread-has-its-calls 2 "$("$B/gtexport" --jsonl -f -o - thread.zst 2>/dev/null | grep '"name":"cuLaunchKernel"' | grep -o '"tid":[0-9]*' | sort -u | wc -l)"
is thread-is-a-thread 0 "$("$B/gtexport" --jsonl -f -o - thread.zst 2>/dev/null | grep '"name":"cuLaunchKernel"' | grep -c '"tid":0,')"
other disable disable 100
other alone '' 150 SIM_CUPTI_ALONE_MS=1500
other again again 50
other refused '' 50 SIM_CUPTI_FAIL=cuptiActivityRegisterCallbacks@3:1
