# gtcollect --inject: the simulated driver loads the library, and CUPTI's callbacks report the calls. The trace is the same as with the
# preloaded library, except for cuInit and the ioctls.
. "$SRC/tests/lib.sh"
C=$B/gtcollect A=$B/gtanalyze X=$B/gtexport rows=$B/unit/gpu_rows_prog
export LD_LIBRARY_PATH="$B/sim" SIMGPU_SPEED=10
meta() { zstd -dcq "$2" | LC_ALL=C grep -ao "\"$1\":[^,}]*" | tail -n 1 | cut -d: -f 2- | tr -d '"'; }
calls() {	# calls NAME: every call in NAME.zst with its arguments, without times, threads and addresses
	"$X" --jsonl -f -o - $1.zst 2>/dev/null | grep '"name":"cu' | grep -v '"name":"cuInit"' |
		sed -E 's/"(ts|op_id|pid|tid|duration_us|duration)":[-0-9.]+,?//g; s/0x[0-9a-f]+/ADDRESS/g' | sort >$1.calls
}

for s in train overlap graph_replay through_runtime leak multiproc; do
	for mode in all key none; do
		[ $mode = all ] || [ $s = through_runtime ] || continue
		name=$s-$mode
		want $name-preloaded 0 "$C" -q -f -e api,gpu --stacks none --args $mode -o preloaded.zst -- "$B/samples/$s"
		rm -f truth.*
		want $name 0 env SIM_CUPTI_TRUTH="$PWD/truth.%p" "$C" -q -f --inject -e api --stacks none --args $mode -o injected.zst -- "$B/samples/$s"
		calls preloaded; calls injected
		same $name-has-the-same-calls preloaded.calls injected.calls
		check $name-has-calls test -s injected.calls
		cat truth.* | awk '$2 == "kernel" || $2 == "copy" || $2 == "set" { print $1, $2, $4, $5, $6, $7, $8, $9, $10 }' | sort >want.rows
		"$rows" rows injected.zst | sort >got.rows
		same $name-has-what-the-gpu-did want.rows got.rows
		is $name-all-joined "$(wc -l <want.rows | tr -d ' ') 0 0 0" \
			"$(meta gpu_joined_exact injected.zst) $(meta gpu_joined_inferred injected.zst) $(meta gpu_joined_wrong injected.zst) $(meta gpu_unjoined injected.zst)"
	done
done

# ---- stacks: they begin at the program's call; the frames of the driver and of CUPTI before it are left out ----
prog=$B/unit/stacks_prog
want native-stacks 0 "$C" -q -f --inject -e api -o injected.zst -- "$B/samples/sync_every_launch" -n 20000
"$prog" injected.zst >all
is every-launch-has-a-stack 40000 "$(grep -c "^[0-9]* cuLaunchKernel |" all)"
check native-stack-begins-at-the-call grep -q '^[0-9]* cuLaunchKernel | main | .*__libc_start_main' all
is native-stack-is-whole 0 "$(grep ' cuLaunchKernel ' all | tail -n 100 | grep -vc 'cuLaunchKernel | main | .*__libc_start_main')"
want gpu-stacks 0 "$C" -q -f --inject -e api,gpu -o injected.zst -- "$B/samples/graph_replay" -n 200
check replays-have-the-stack-of-the-capture test "$("$prog" injected.zst gpu | grep -c 'kernels.* | main')" -ge 4000
python=$(command -v /usr/bin/python3 || command -v python3 || :)
if [ -n "$python" ]; then
	want python-stacks 0 "$C" -q -f --inject -e api -o injected.zst -- "$python" "$SRC/tests/unit/collect/guest/stacks.py" expected 5
	"$prog" injected.zst | awk -F' [|] ' '/^[0-9]+ cuStreamSynchronize/ { split($1, a, " "); s = a[1]; for (i = 2; i <= NF; i++) if ($i ~ /:[0-9]+\)$/) s = s " | " $i; print s }' |
		sort -s -k 1,1n >got
	awk -F' [|] ' '{ s = $1; for (i = 2; i <= NF && i <= 513; i++) s = s " | " $i; print s }' expected | sort -s -k 1,1n >wanted
	same python-stacks-are-the-program-s-own wanted got
	check python-many test "$(wc -l <got)" -gt 100
	cat >named.py <<'P'
import ctypes, threading
cuda = ctypes.CDLL("libcuda.so.1")
def run():
    ctypes.CDLL(None).prctl(15, b"worker-one", 0, 0, 0)
    cuda.cuDeviceGetCount(ctypes.byref(ctypes.c_int()))
cuda.cuInit(0)
t = threading.Thread(target=run)
t.start()
t.join()
P
	want named-threads 0 "$C" -q -f --inject -e api -o injected.zst -- "$python" named.py
	is threads-have-names worker-one "$("$A" threads --format csv injected.zst 2>/dev/null | awk -F, 'NR == 2 { print $4 }')"
else
	skip python-stacks "there is no python3"
fi

# With calls of the runtime: driver calls within one share its correlation id, and each is joined to its own GPU work.
causes() { "$rows" rows $1.zst causes | awk '{ print $2, $(NF - 1), $NF }' | sort | uniq -c; }
want runtime-preloaded 0 "$C" -q -f -e api,gpu,runtime --stacks none -o preloaded.zst -- "$B/samples/through_runtime"
want runtime 0 "$C" -q -f --inject -e api,runtime --stacks none -o injected.zst -- "$B/samples/through_runtime"
causes preloaded >preloaded.causes; causes injected >injected.causes
same runtime-has-the-same-causes preloaded.causes injected.causes

# values that cannot be known are reported as unknown and not as 0
want says 0 "$C" -f --inject -o injected.zst -- "$B/samples/leak"
says note-of-what-is-not-seen 'note: --inject sees no ioctls, and no calls before cuInit has returned'
want reports 0 "$A" summary injected.zst
check ioctls-are-not-recorded grep -q 'IOCTL calls: not recorded' want.out
check header-says-how grep -q 'injection, cupti: api gpu\( overhead\)*,' want.out	# overhead exists only in a program that runs until the first flush

# the program's environment has no LD_PRELOAD, and keeps the library of another tool
want environment 0 "$C" -q -f --inject -o e.zst -- env
is environment-is-that "0 1" "$(grep -c ^LD_PRELOAD= want.out) $(grep -c '^CUDA_INJECTION64_PATH=/.*/libgtpreload.so$' want.out)"
want other-tool 2 env CUDA_INJECTION64_PATH=/opt/tool.so "$C" -f --inject -o e.zst -- true
says other-tool-is-named 'CUDA_INJECTION64_PATH names /opt/tool.so already'

# only the selected calls are recorded
want filtered 0 "$C" -q -f --inject --filter cuLaunchKernel -o f.zst -- "$B/samples/train"
is filtered-calls 'cuLaunchKernel,1600' "$("$A" --format csv --match 'cu*' top f.zst | sed 1d | cut -d, -f 1,3)"
want sampled 0 "$C" -q -f --inject -e api --sample 10 -o f.zst -- "$B/samples/train"
is sampled-calls 160 "$("$A" --format csv --match cuLaunchKernel top f.zst | sed 1d | cut -d, -f 3)"

# CUPTI has another subscriber: the program runs and the GPU work is recorded; messages and reports say that the calls are missing
want taken 0 env SIM_CUPTI_TAKEN=1 "$C" -f --inject -e api -o taken.zst -- "$B/samples/leak"
says taken-is-reported '--inject: in 1 process no calls were recorded: CUPTI is missing, or another tool has subscribed to it'
is taken-has-work '100 0' "$("$rows" rows taken.zst | wc -l | tr -d ' ') $("$X" --jsonl -f -o - taken.zst | grep -c '"name":"cu')"
want taken-header 0 "$A" header taken.zst
check taken-no-report-hides-it sh -c 'grep -q "calls: 1 of the processes has none" want.out && ! grep -q "no losses" want.out'
mkdir -p only && ln -sf "$B/sim/libcuda.so.1" only/libcuda.so.1
want missing 0 env LD_LIBRARY_PATH="$PWD/only" "$C" -f --inject --cupti "$B/sim/libcuda.so.1" -o missing.zst -- "$B/samples/leak"
says missing-is-reported '--inject: in 1 process no calls were recorded'
want no-cuda 0 "$C" -f --inject -o none.zst -- true
says no-cuda-gives-the-reason 'it never called cuInit, or what called it had CUDA_INJECTION64_PATH taken out'

# the exit status is the program's
open_call() { "$A" --format csv open crash.zst | sed 1d | grep -o 'cuStreamSynchronize' | head -n 1; }
# on a busy machine the program may die before it makes the call
for again in 1 2 3 4 5; do
	want crash 139 "$C" -q -f --inject -o crash.zst -- "$B/samples/crash"
	[ "$(open_call)" != cuStreamSynchronize ] || break
done
is crash-open-call cuStreamSynchronize "$(open_call)"
