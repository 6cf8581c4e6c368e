# What the stack of a call costs the program: 20 frames of Python and 10 native ones, with a real CPython, on the simulated driver.
#	stack_ns	of a stack that the thread has taken before: a call with its stack, less the same call without
#	stack_in_turn_ns	of one of 64 stacks that are taken in turn, likewise
#	stack_first_ns	of a new stack, likewise
#	stack_bytes_per_call	of the file, of a loop with one stack, less the same without
# Prints nothing where there is no python3.
G=$B/gtcollect
export LD_LIBRARY_PATH="$B/sim"
python=$(command -v /usr/bin/python3 || command -v python3) || exit 0
${CC:-cc} -O2 -fomit-frame-pointer -fno-optimize-sibling-calls -shared -fPIC "$SRC/tests/bench/stack_calls.c" -ldl -o libcalls.so || exit 1
cat >loop.py <<'P'
import ctypes, sys
cu = ctypes.CDLL("libcuda.so.1", mode=ctypes.RTLD_GLOBAL)
calls = ctypes.CDLL("./libcalls.so")
for f in calls.stack_repeated, calls.stack_in_turn, calls.stack_new:
    f.restype, f.argtypes = ctypes.c_double, [ctypes.c_long]
cu.cuInit(0)
context = ctypes.c_void_p()
cu.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
cu.cuCtxSetCurrent(context)
def down(n):
    return down(n - 1) if n else measure()
def measure():
    n = int(sys.argv[1])
    return calls.stack_repeated(n), calls.stack_new(int(sys.argv[2])), calls.stack_in_turn(n // 4)
print("%.1f %.1f %.1f" % down(17))
P
median() { sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }
for i in 1 2 3 4 5 6 7; do
	for s in none 'cuStreamQuery*'; do
		"$G" -q -f -e api --ring-memory 512M -o "$i.zst" --stacks "$s" -- "$python" loop.py 1000000 4096 || exit 1
		rm "$i.zst"
	done | awk '{ a[NR] = $1; b[NR] = $2; c[NR] = $3 } END { print a[2] - a[1], b[2] - b[1], c[2] - c[1] }'
done >times
awk '{ print $1 }' times | median | sed 's/.*/stack_ns & ns/'
awk '{ print $3 }' times | median | sed 's/.*/stack_in_turn_ns & ns/'
awk '{ print $2 }' times | median | sed 's/.*/stack_first_ns & ns/'
for s in none 'cuStreamQuery*'; do
	"$G" -q -f -e api --ring-memory 512M -o bytes.zst --stacks "$s" -- "$python" loop.py 1000000 1 >out || exit 1
	wc -c <bytes.zst
done | awk '{ n[NR] = $1 } END { printf "stack_bytes_per_call %.3f B\n", (n[2] - n[1]) / 1000000 }'
