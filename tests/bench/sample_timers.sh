# Processor time of a Python program with two threads, beside the same with -e samples by timers (199 times a second), without perf
# events: the quotient of the two medians of 15 runs each, which take turns.
refuse="$B/bpf/without_bpf 1"
cat >work.py <<'P'
import threading, time

def leaf(n): return n * 3 % 7
def middle(n): return leaf(n) + 1
def deep(n): return middle(n) if n == 0 else deep(n - 1)

def work():
    for i in range(200000):
        deep(15)
        sum([leaf(j) for j in range(20)])

threads = [threading.Thread(target=work) for i in range(2)]
begun = time.process_time()
for t in threads: t.start()
for t in threads: t.join()
print(time.process_time() - begun)
P
i=0
while [ $i -lt 15 ]; do
	$refuse python3 work.py >>alone
	$refuse "$B/gtcollect" -q -f -e samples -o bench.zst -- python3 work.py >>sampled
	i=$((i + 1))
done
median() { sort -n "$1" | sed -n 8p; }
echo "sample_timers_cpu_ratio $(awk -v a="$(median alone)" -v b="$(median sampled)" 'BEGIN { printf "%.4f", b / a }') x"
