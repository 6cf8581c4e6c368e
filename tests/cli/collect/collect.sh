# gtcollect as a command: exit status, signals and streams of the program, options, name and permissions of the file, messages.
. "$SRC/tests/lib.sh"
C=$B/gtcollect A=$B/gtanalyze
export LD_LIBRARY_PATH="$B/sim${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
unset XDG_RUNTIME_DIR
export TMPDIR="$(TMPDIR=/tmp mktemp -d)"	# for session folders only; gtcollect does not use TMPDIR when its path is too long
trap 'rm -rf "$TMPDIR"' EXIT

meta() { "$A" --format tsv metadata "$2" 2>/dev/null | tr -d '\r' | sed -n "s/^$1	//p"; }			# meta KEY FILE

# ---- exit status, streams and environment of the program ----
want status_passes 7 "$C" -q -o s1.zst sh -c 'exit 7'
want status_of_signal 143 "$C" -q -o s2.zst sh -c 'kill -TERM $$'
want status_not_found 127 "$C" -q -o s3.zst ./no-such-program
says not_found_is_reported "no-such-program: No such file"
is nothing_left_of_failed_start "" "$(ls s3.zst 2>/dev/null)"
echo text >plain
want status_not_executable 126 "$C" -q -o s4.zst ./plain
printf 'in\nput' | "$C" -q -o s5.zst sh -c 'cat; echo err >&2' >out 2>errors
is stdin_stdout_pass "$(printf 'in\nputx')" "$(cat out)x"
is stderr_passes_and_quiet_is_quiet err "$(cat errors)"
want exit_0 0 "$C" -o s6.zst true
says nothing_seen_is_reported "no CUDA call was seen: it never loaded libcuda"
says nothing_seen_leaves_nothing_to_run 's6.zst: .* 0 events, 0 processes, no losses, [0-9.]* s$'
LD_LIBRARY_PATH= "$C" -f -o s6.zst true 2>want.err
if LD_LIBRARY_PATH= "$C" --doctor | grep -q '^note *libcuda .*not found'; then says nothing_seen_for_want_of_a_driver 'seen: there is no libcuda.so.1 where programs look'
else skip nothing_seen_for_want_of_a_driver "this machine has a libcuda"; fi
want arguments_after_the_command_are_its_own 3 "$C" -q -o s7.zst sh -c 'exit $#' x -q -f --version
want double_dash 0 "$C" -q -o s8.zst -- test -o = -o

# ---- gtcollect passes signals on to the program ----
for s in TERM HUP USR1 USR2; do
	"$C" -q -f -o sig.zst sh -c 'trap "exit 33" '$s'; echo up >up; while :; do sleep 0.05; done' &
	pid=$!
	while [ ! -s up ]; do sleep 0.05; done
	kill -$s $pid; wait $pid
	is forwards_$s 33 $?
	rm -f up
done
want fine_after_signals 0 zstd -qt sig.zst

# ---- command line and files ----
want no_command 2 "$C"
want bad_option 2 "$C" --no-such-option true
want bad_range 2 "$C" --range cpu true
want version 0 "$C" --version
want help 0 "$C" --help
misuse() {	# misuse NAME WORDS OPTIONS...: exit status 2, one line of message that contains WORDS, and no file
	misuse_words=$2; want "$1" 2 "$C" -o misused.zst "$3" "$4" true
	is "$1-message" "1 1" "$(grep -c . want.err) $(grep -c -e "$misuse_words" want.err)"
}
misuse events_unknown "-e: invalid value 'nonsense'; choose from api ioctl gpu nvtx nvml runtime um sched samples driver fault usdt xid, with commas between$" -e api,nonsense
misuse events_none "-e: invalid value ''; choose from api" -e ''
misuse events_empty_word "-e: invalid value ''; choose from api" -e ,api
misuse filter_leaves_nothing 'leave nothing to record' --filter nothing_is_called_so
misuse filter_no_category "filter '@lunch': the categories are other init .* launch " --filter @lunch
misuse exclude_no_category "exclude '@nothing\*': the categories are other init " --exclude '@nothing*'
misuse ring_too_large 'ring-memory must lie between' --ring-memory 60000G
misuse ring_too_small 'ring-memory must lie between' --ring-memory 4K
misuse ring_zero 'cannot be 0' --ring-memory 0
misuse ring_share_too_small 'ring-size must be at least' --ring-size 32k
misuse sample_zero 'sample must lie between' --sample 0
misuse sample_enormous 'sample must lie between' --sample 5000000000
misuse pattern_unknown_variable 'SURELY_NOT_SET is not set' -o '%q{SURELY_NOT_SET}'
misuse pattern_bad 'after % there may be' -o 'a%zb'
misuse pattern_empty 'the name is empty' -o ''
check misuse_leaves_no_file test ! -e misused.zst
if [ -w /dev/full ]; then
	"$C" --help >/dev/full 2>want.err; is help_cannot_be_written 125 $?
	"$C" --doctor >/dev/full 2>want.err; is doctor_cannot_be_written 125 $?
else skip help_cannot_be_written "no /dev/full"; fi
want events_in_any_order 0 "$C" -q -o ev.zst -e ioctl,api true
want existing_is_refused 125 "$C" -o plain true
says existing_is_reported "plain: exists; -f overwrites it"
is existing_is_untouched text "$(cat plain)"
want output_directory_missing 125 "$C" -o no/such/t.zst true
says output_directory_missing_is_reported 'no/such/t.zst: its directory does not exist$'
want force 0 "$C" -q -f -o plain true
want force_wrote_a_trace 0 zstd -qt plain
"$C" -q -o busy.zst sh -c 'echo up >up; while [ ! -e down ]; do sleep 0.05; done' &
while [ ! -s up ]; do sleep 0.05; done
want being_written_is_refused_even_with_force 125 "$C" -f -o busy.zst true
says being_written_is_reported "is being written by another gtcollect"
touch down; wait
want first_writer_is_unharmed 0 zstd -qt busy.zst
misuse output_dash 'standard output is the program.s own' -o -
want output_called_dash 0 "$C" -q -o ./- true
check output_called_dash_is_a_trace zstd -qt ./-
"$C" -o out.txt echo text >out.txt 2>want.err; is output_is_the_programs_output 125 $?
"$C" -q -f -o out.txt echo text >out.txt 2>want.err; is output_is_the_programs_output_forced 125 $?
says output_is_the_programs_output_message 'out.txt: is the standard output of the program'
"$C" -q -f -o out.txt echo text 2>out.txt; is output_is_the_programs_error 125 $?
want device_as_file 0 "$C" -q -o /dev/null "$B/samples/train" -n 2
(RANK=a/b "$C" -q -o 'x-%q{RANK}-%h-%%.zst' true)
is pattern "x-a_b-$(uname -n)-%.zst" "$(ls x-*)"
mkdir default && cd default && "$C" -q -- sh -c true; cd ..
case $(ls default) in gt-sh-20[0-9][0-9][0-1][0-9][0-3][0-9]-[0-9]*-[0-9]*.zst) ok default_name ;; *) fail default_name "$(ls default)" ;; esac

# ---- a recording ----
want train_runs 0 "$C" -o t.zst "$B/samples/train" -n 20
says end_line 'simulated GPU: t.zst: .*[0-9] events, [0-9]* GPU operations, 1 process, no losses, .* s; next: gtanalyze t.zst'
want trace_is_zstd 0 zstd -qt t.zst
is metadata_simulated true "$(meta simulated t.zst)"
is metadata_command "$B/samples/train -n 20" "$(meta command t.zst)"
is metadata_status 0 "$(meta exit_status t.zst)"
is track_source "preload, cupti" "$(figure sources t.zst)"
is ioctl_layer 'api ioctl gpu overhead' "$(figure layers t.zst)"
is kernel_names_resolved 0 "$("$A" launches --format csv t.zst | sed 1d | grep -c '^[?,]')"
SECRET=x CUDA_MODULE_LOADING=LAZY NCCL_DEBUG=INFO "$C" -q -o e.zst "$B/samples/train" -n 1 >/dev/null
is environment_allowed 'LAZY INFO' "$(meta environment.CUDA_MODULE_LOADING e.zst) $(meta environment.NCCL_DEBUG e.zst)"
is environment_secret "" "$(meta environment.SECRET e.zst)"

want verbose_counts_one_thread 0 "$C" -v -o one.zst "$B/samples/spin_calls" -n 10
says verbose_says_1_thread 'gtcollect: 1 thread, 0 calls left out'
mkdir 'a folder'
want names_for_the_shell 0 "$C" -o "a folder/it's.zst" "$B/samples/spin_calls" -n 10
is what_to_run_next_can_be_pasted "a folder/it's.zst" "$(eval "printf %s $(sed -n 's/.*; next: gtanalyze //p' want.err)")"
(cd 'a folder' && "$C" -o -x.zst "$B/samples/spin_calls" -n 10 >/dev/null 2>../want.err)
says names_with_a_dash 'next: gtanalyze ./-x.zst$'
"$C" -q -o v.zst "$B/samples/forkexec" >/dev/null
is cuda_version_as_the_driver_said "$("$B/gtexport" --jsonl -o - v.zst | sed -n 's/.*"driverVersion": *\([0-9]*\).*/\1/p' | sort -u | awk '{ printf "%d.%d", $1 / 1000, $1 % 1000 / 10 }')" "$(meta cuda_version v.zst)"
is cuda_version_is_no_guess "" "$(meta cuda_version one.zst)"

# ---- on a terminal ----
# on_terminal TERM COMMAND: the output on a terminal of 40 columns
on_terminal() { TERM=$1 script -qefc "stty cols 40; '$C' -f -o tty.zst $2" tty.raw </dev/null >/dev/null; tr '\r' '\n' <tty.raw >tty.out; }
status_line() { grep -q "\[Kgtcollect: [0-9]* s, 0 events" tty.raw && echo yes; }
if [ "$(script -qec 'echo yes' /dev/null </dev/null 2>/dev/null | tr -d '\r')" = yes ]; then
	{ until_it_is yes status_line; echo >seen; } &
	on_terminal xterm "sh -c 'while [ ! -e seen ]; do sleep 0.1; done'"; wait
	is status_line_fits_the_terminal "shown fits" "$(awk '/\[Kgtcollect: [0-9]+ s, 0 events/ { shown = 1; if (length > 39 + 3) long = 1 } END { print shown ? "shown" : "none", long ? "too long" : "fits" }' tty.out)"
	on_terminal dumb 'sleep 1.3'
	is no_status_line_on_a_dumb_terminal "0 1" "$(grep -c "$(printf '\033')" tty.out) $(grep -c 'gtcollect: tty.zst' tty.out)"
else skip status_line "there is no script(1), or no terminal for it"; fi

# ---- contents of the recording ----
all=$(figure calls t.zst)
"$C" -q -o api.zst -e api "$B/samples/train" -n 20 >/dev/null
is events_api api "$(figure layers api.zst)"
"$C" -q -o f.zst --filter 'cuLaunch*' --filter cuMemAlloc "$B/samples/train" -n 20 >/dev/null
is filter_keeps "$(calls cuLaunchKernel t.zst)" "$(calls cuLaunchKernel f.zst)"
is filter_matches_without_version "$(calls cuMemAlloc_v2 t.zst)" "$(calls cuMemAlloc_v2 f.zst)"
is filter_drops 0 "$(calls cuInit f.zst)"
"$C" -q -o g.zst --filter @launch --filter '@mem*' "$B/samples/train" -n 20 >/dev/null
is filter_by_category "launch memory" "$("$A" categories --format csv g.zst 2>/dev/null | awk -F, 'NR > 1 && $2 { print $1 }' | sort | tr '\n' ' ' | sed 's/ $//')"
is filter_by_category_keeps "$(calls cuLaunchKernel t.zst) $(calls cuMemAlloc_v2 t.zst)" "$(calls cuLaunchKernel g.zst) $(calls cuMemAlloc_v2 g.zst)"
"$C" -q -o q.zst --exclude @query "$B/samples/train" -n 20 >/dev/null
is exclude_by_category "0 $(calls cuLaunchKernel t.zst)" "$("$A" categories --format csv q.zst 2>/dev/null | grep -c ^query,) $(calls cuLaunchKernel q.zst)"
"$C" -q -o x.zst --exclude 'cuLaunch*' "$B/samples/train" -n 20 >/dev/null
is exclude_drops $((all - $(calls cuLaunchKernel t.zst) - $(calls cuLaunchKernel_ptsz t.zst) - $(calls cuLaunchKernelEx t.zst) - $(calls cuLaunchHostFunc t.zst))) "$(figure calls x.zst)"
"$C" -q -o sa.zst --sample 10 "$B/samples/spin_calls" -n 1000 >/dev/null
is sample 100 "$(calls cuCtxGetCurrent sa.zst)"
is sample_counts_the_rest 900 "$(meta sampled_out_calls sa.zst | awk '{ print ($1 >= 900 ? 900 : $1) }')"
for a in none key all; do
	"$C" -q -o a-$a.zst --args $a "$B/samples/train" -n 20 >/dev/null
	is args_${a}_same_calls "$all" "$(figure calls a-$a.zst)"
done
none=$("$B/gtexport" --jsonl -o - a-none.zst | grep -c gridDimX) key=$("$B/gtexport" --jsonl -o - a-key.zst | grep -c gridDimX)
is args_none_has_no_arguments 0 "$none"
if [ "$key" -gt 0 ]; then ok args_key_has_the_grid; else fail args_key_has_the_grid "no gridDimX"; fi
for a in none key all; do
	"$C" -q -o r-$a.zst --args $a "$B/samples/resolve" >/dev/null
	is args_${a}_looked_up_symbols $(case $a in none) echo 0 ;; *) calls cuGetProcAddress_v2 r-$a.zst ;; esac) \
		"$("$B/gtexport" --jsonl -o - r-$a.zst | grep cuGetProcAddress_v2 | grep -c '"symbol":')"
done
for f in $(sed -n 's/^GT_API(\([A-Za-z]*\).*s:[A-Za-z]*!.*/\1/p' "$SRC/formats/cuda/cuda_api.def" | sort -u); do
	check manual_names_string_of_$f grep -q "$f" "$SRC/docs/gtcollect.1.md"
done
"$C" -q -o d.zst --delay 100 "$B/samples/train" -n 2 >/dev/null
is delay 0 "$(figure calls d.zst)"
# on a busy machine the program's first call or gtcollect's stop may be late
for s in 1 2 4 8; do
	"$C" -q -f -o du.zst --duration ${s}s "$B/samples/spin_calls" -s $((4 * s)) >/dev/null 2>&1
	early=$(figure span_ns du.zst | awk -v s=$s '$1 > 0 && $1 < 3e9 * s { print 1 }')
	[ "$early" != 1 ] || break
done
is duration_stops_early 1 "$early"
want range_without_start 0 "$C" -o ra.zst --range cuda-profiler "$B/samples/train" -n 2
says range_is_explained 'cuProfilerStart'

# ---- sessions and the folder of the file ----
is sessions_are_removed "" "$(ls -d "$TMPDIR"/gt-session-* 2>/dev/null)"
ASAN_OPTIONS=$ASAN_OPTIONS:verify_asan_link_order=0 LD_PRELOAD=$B/sim/libcuda.so.1 "$C" -q -o p.zst sh -c 'echo "$LD_PRELOAD"' >pre
is preload_is_kept "1 $B/sim/libcuda.so.1" "$(grep -c '^/.*/libgtpreload.so:' pre) $(sed 's/^[^:]*://' pre)"
want background_child_starts_cleanly 0 "$C" -q -o bg.zst sh -c '(sleep 0.3; ls / >/dev/null 2>late; echo done >>late) &'
while ! grep -qs done late; do sleep 0.1; done
is no_complaint_of_the_loader done "$(cat late)"
for wait in '(sleep 0.3; "$0" -n 1000) & "$0" -n 1000; exit 3' '"$0" -n 2000 & exit 3' '(setsid sh -c "sleep 0.3; \"$0\" -n 2000" &); exit 3'; do
	want wait_all_waits 3 timeout 100 "$C" -q -f -o wa.zst --wait all sh -c "$wait" "$B/samples/spin_calls"
	is wait_all_has_all_calls 2000 "$(calls cuCtxGetCurrent wa.zst)"
done
want wait_primary_does_not 0 "$C" -q -f -o wp.zst sh -c 'while [ ! -e go ]; do sleep 0.1; done &'
touch go
want wait_all_leaves_out_older_children 0 timeout 100 sh -c 'while [ ! -e gone ]; do sleep 0.1; done & exec "$0" -q -f -o wo.zst --wait all true' "$C"
touch gone
want doctor 0 "$C" --doctor
is doctor_meets_the_simulated_driver "1 1" "$(grep -c '^Recording works here: ' want.out) $(grep -c '^CUDA programs find the simulated driver' want.out)"
is doctor_starts_the_driver 1 "$(grep -c 'libcuda .*sim/libcuda.so.1; 1 device, .*(Simulated)$' want.out)"
is doctor_has_a_line_each 15 "$(grep -cE '^(ok|note) ' want.out)"
if [ -d /proc/self ]; then TMPDIR=/proc "$C" --doctor | grep -qE 'session directories go to /(run|tmp)$'; is doctor_tries_to_make_a_directory 0 $?
else skip doctor_tries_to_make_a_directory "no /proc"; fi
mkdir nocuda; echo 'void *cuInit;' | ${CC:-cc} -shared -fPIC -x c - -o nocuda/libcuda.so.1 2>/dev/null
want doctor_dead_driver 0 env LD_LIBRARY_PATH="$PWD/nocuda" "$C" --doctor
is doctor_dead_driver_is_no_driver "1 1 1" "$(grep -c 'nocuda/libcuda.so.1; it lacks functions' want.out) $(grep -c '^Recording works here: ' want.out) $(grep -c 'cannot start it' want.out)"
if env -u LD_LIBRARY_PATH "$C" --doctor >want.out; grep -q '^note *libcuda .*not found' want.out; then
	is doctor_two_facts_without_libcuda "1 1 1" "$(grep -c '^Recording works here: ' want.out) $(grep -c 'find no libcuda.so.1 and do not run here' want.out) $(grep -c "LD_LIBRARY_PATH to $B/sim " want.out)"
else skip doctor_two_facts_without_libcuda "this machine has a libcuda"; fi
cp "$C" alone
want library_missing 125 env -u GT_GUEST ./alone -o al.zst true
says library_missing_is_reported 'libgtpreload.so is neither in'
want library_given 0 env GT_GUEST="$B/libgtpreload.so" ./alone -q -o al.zst true

# A command that cannot be run does not replace an existing trace.
want kept_first 0 $B/gtcollect -q -f -o kept.zst true
cp kept.zst kept.before
want kept_mistyped 127 $B/gtcollect -f -o kept.zst ./no-such-program
want kept_no_path 127 $B/gtcollect -f -o kept.zst no-such-program-anywhere
want kept_directory 126 $B/gtcollect -f -o kept.zst "$SRC"
same kept_is_untouched kept.before kept.zst
