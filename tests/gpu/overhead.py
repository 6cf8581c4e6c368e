# overhead.py [PAIRS [SECONDS [LOOP [RECORDER...]]]]: cost of recording for a training loop of
# torch_train.py (LOOP: mlp, sgd, adam, transformer).
#
# For each RECORDER a process runs the loop under it; one more runs it without a recorder. A
# RECORDER is "gtcollect" (the default), or with options in one word "gtcollect --args all";
# "alone" records nothing and shows the error of the method; "bare" is cupti_client.c, where CUPTI
# records kernels, copies and sets and the client discards them: the cost of CUPTI; "api" is the
# same with its records of calls; "bare,BUFFER=65536,FLUSH_MS=250" sets that client's variables;
# "nsys" is nsys profile -t cuda, from the variable NSYS or the path; "profiler" is torch.profiler of
# CPU and CUDA, "profiler,stacks" the same with with_stack=True. In each pair every process
# runs SECONDS in total, in turns of a quarter of a second while the others wait, forwards and
# backwards alternately, so that drifts of the machine affect all of them equally. Every few pairs
# (OVERHEAD_PAIRS_A_PROCESS, 5) all processes are replaced by new ones, so that the address layout of one process does not
# determine the result. All are pinned to the same processors (OVERHEAD_CPUS, a list as for
# taskset; "": not pinned), so that their placement does not either. gtcollect is not pinned.
#
# Prints for each pair the ratios of ms per step, and at the end for each recorder the median of
# the paired ratios with the 95 % interval of that median (bootstrap over pairs, 20,000 resamples,
# fixed seed), and the recorded counts. After SIGTERM (timeout) it reports the pairs measured so
# far.
import functools
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile

TURN, PAIRS_A_PROCESS = 0.25, int(os.environ.get("OVERHEAD_PAIRS_A_PROCESS", 5))
pairs = int(sys.argv[1]) if len(sys.argv) > 1 else 20
seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 5
loop = sys.argv[3] if len(sys.argv) > 3 else "mlp"
recorders = sys.argv[4:] or ["gtcollect"]
here = os.path.dirname(os.path.abspath(__file__))
cpus = os.environ.get("OVERHEAD_CPUS", "4-7")
program = ["taskset", "-c", cpus] * bool(cpus) + ["python3", os.path.join(here, "torch_train.py"), "turns", loop]


@functools.cache
def client():
    """the library, built"""
    folder = tempfile.mkdtemp()
    built = f"here={here}; . {here}/clients.sh; build_client {folder} >&2; echo $client; echo $CUPTI_CLIENT_LIBRARY"
    lib, cupti = subprocess.run(["bash", "-c", built], stdout=subprocess.PIPE, text=True).stdout.split("\n")[:2]
    os.environ["CUPTI_CLIENT_LOG"] = os.path.join(folder, "log")
    if cupti:
        os.environ["CUPTI_CLIENT_LIBRARY"] = cupti
    return lib


def start(k, recorder):
    mode = recorder.split(",")[0]
    if mode in ("bare", "api"):
        env = dict(os.environ, CUPTI_CLIENT=mode, CUDA_INJECTION64_PATH=client())
        env.update(("CUPTI_CLIENT_" + v).split("=", 1) for v in recorder.split(",")[1:])
        return subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env)
    if mode == "profiler":
        env = dict(os.environ, TORCH_PROFILER=recorder.split(",")[-1].replace("profiler", "plain"))
        return subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env)
    if recorder == "nsys":
        nsys = [os.environ.get("NSYS", "nsys"), "profile", "-t", "cuda", "-s", "none", "--cpuctxsw=none", "-f", "true"]
        return subprocess.Popen(nsys + ["-o", f"/tmp/overhead-{k}"] + program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    under = [] if recorder == "alone" else recorder.split() + ["-q", "-f", "-o", f"/tmp/overhead-{k}.zst", "--"]
    return subprocess.Popen(under + program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def turn(p, how_long):
    p.stdin.write(f"{how_long}\n")
    p.stdin.flush()
    steps, ms = p.stdout.readline().split()
    return int(steps), float(ms)


def end(processes):
    for p in processes:
        p.stdin.close()
        p.wait()


def one_pair(processes, first):
    """ms a step of each process"""
    steps, ms = [0] * len(processes), [0.0] * len(processes)
    order = list(range(len(processes)))
    for i in range(round(seconds / TURN)):
        for k in order if (i + first) % 2 == 0 else reversed(order):
            s, m = turn(processes[k], TURN)
            steps[k] += s
            ms[k] += m
    return [m / s for m, s in zip(ms, steps)]


processes, alone, ratios = [], [], [[] for _ in recorders]


def measure():
    for i in range(pairs):
        if i % PAIRS_A_PROCESS == 0:
            end(processes)
            processes[:] = [start(k, r) for k, r in enumerate(["alone"] + recorders)]
            for p in processes:
                turn(p, 1)
        took = one_pair(processes, i)
        alone.append(took[0])
        for k in range(len(recorders)):
            ratios[k].append(took[k + 1] / took[0])
        print(f"pair {i}: {took[0]:.6f} ms a step alone, ratio " + " ".join(f"{r[-1]:.4f}" for r in ratios), flush=True)


def stop(*_):
    raise TimeoutError


signal.signal(signal.SIGTERM, stop)
try:
    measure()
except TimeoutError:
    print(f"ended after {len(alone)} of {pairs} pairs")
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
end(processes)
if not alone:
    sys.exit("no pair was measured")
print(f"plain_ms_per_step {statistics.median(alone):.6f} ms")
for k, r in enumerate(recorders):
    random.seed(1)
    medians = sorted(statistics.median(random.choices(ratios[k], k=len(alone))) for _ in range(20000))
    print(f"{r}: overhead_median_ratio {statistics.median(ratios[k]):.4f} x, overhead_ratio_low {medians[500]:.4f} x, "
          f"overhead_ratio_high {medians[19499]:.4f} x")
    trace = f"/tmp/overhead-{k + 1}.zst"
    if r.split(",")[0] not in ("alone", "bare", "api", "nsys", "profiler"):
        print(subprocess.run(["gtanalyze", "header", trace], capture_output=True, text=True).stdout, os.path.getsize(trace), "bytes")
