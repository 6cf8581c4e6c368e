# overhead.py [PAIRS [SECONDS [sgd]]]: what recording costs PyTorch's training loop. Two processes run torch_train.py's loop, one under
# gtcollect, one not; they take turns, SECONDS at a time, while the other one waits, and the order within a pair alternates. Prints
# ms a step of each turn, the median of the paired ratios with a 95 % interval of that median (bootstrap over pairs, 20,000
# resamples, fixed seed), and what was recorded.
import os
import random
import statistics
import subprocess
import sys

pairs = int(sys.argv[1]) if len(sys.argv) > 1 else 20
seconds = sys.argv[2] if len(sys.argv) > 2 else "5"
here = os.path.dirname(os.path.abspath(__file__))
program = ["python3", os.path.join(here, "torch_train.py"), "turns"] + sys.argv[3:]
trace = "/tmp/overhead.zst"


def start(command):
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def turn(p, how_long):
    p.stdin.write(how_long + "\n")
    p.stdin.flush()
    steps, ms = p.stdout.readline().split()
    return float(ms) / int(steps)


alone = start(program)
recorded = start(["gtcollect", "-q", "-f", "-o", trace, "--"] + program)
for p in alone, recorded:
    turn(p, "1")
ratios, off, on = [], [], []
for i in range(pairs):
    if i % 2:
        a = turn(alone, seconds)
        b = turn(recorded, seconds)
    else:
        b = turn(recorded, seconds)
        a = turn(alone, seconds)
    off.append(a)
    on.append(b)
    ratios.append(b / a)
    print(f"pair {i}: {a:.6f} ms a step alone, {b:.6f} recorded, ratio {b / a:.4f}", flush=True)
for p in alone, recorded:
    p.stdin.close()
    p.wait()
random.seed(1)
medians = sorted(statistics.median(random.choices(ratios, k=pairs)) for _ in range(20000))
print(f"overhead_median_ratio {statistics.median(ratios):.4f} x")
print(f"overhead_ratio_low {medians[500]:.4f} x")
print(f"overhead_ratio_high {medians[19499]:.4f} x")
print(f"plain_ms_per_step {statistics.median(off):.6f} ms")
print(f"recorded_ms_per_step {statistics.median(on):.6f} ms")
out = subprocess.run(["gtanalyze", "header", "--format", "csv", trace], capture_output=True, text=True).stdout.splitlines()
print(out[0], out[1], os.path.getsize(trace), "bytes", sep="\n")
