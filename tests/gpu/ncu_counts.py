# ncu_counts.py PORTABLE-TARBALL OUT [PROGRAM...]: compares the number of runs of each kernel by
# Nsight Compute (ncu) and by gtcollect -e api,gpu, in two runs of the same program. ncu stops the
# program at each kernel, so only counts can be compared. A PROGRAM is one word with its arguments;
# the default is streams.cu, a training loop of PyTorch, and one replayed as a CUDA graph. Prints a
# line for each program and one for each name that differs; exit status 1 if one differs. Names are
# mangled ones; all of them go to OUT/ncu_counts.txt.
import collections
import csv
import json
import os
import platform
import subprocess
import sys

here = os.path.dirname(os.path.abspath(__file__))
LIMIT = 150     # seconds a run


def run(command, **more):
    return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=LIMIT, **more)


def of_ncu(program, log):
    """{name: count}; the output of ncu is in the file log"""
    output = run(["ncu", "--csv", "--page", "raw", "--metrics", "launch__grid_size",
                  "--print-kernel-base", "mangled", "--target-processes", "all",
                  "-f", "--log-file", log] + program).stdout
    lines = open(log).read().splitlines()
    table = [line for line in lines if line.startswith('"')]
    if not table:
        last = [line for line in lines if "==" in line][-2:] + output.splitlines()[-2:]
        sys.exit("ncu has no kernels: " + " ".join(last))
    return collections.Counter(r["Kernel Name"] for r in csv.DictReader(table) if r["ID"])


def of_gt(program, trace):
    run(["gtcollect", "-q", "-f", "-e", "api,gpu", "-o", trace, "--"] + program, check=True)
    text = subprocess.run(["gtanalyze", "--format", "json", "--top", "0", "kernels", trace], capture_output=True, text=True, check=True).stdout
    count = collections.Counter()
    for r in json.loads(text)["kernels"]["rows"]:
        count[r["name"]] += r["count"]
    return count


def main(tarball, out, *programs):
    for folder in "/tmp/gt", out:
        os.makedirs(folder, exist_ok=True)
    subprocess.run(["tar", "-C", "/tmp/gt", "-xzf", tarball], check=True)
    os.environ["PATH"] = f"/tmp/gt/gt-portable-{platform.machine()}/bin:" + os.environ["PATH"] + ":/usr/local/cuda/bin"
    if not programs:
        subprocess.run(["nvcc", "-o", "/tmp/ncu_streams", f"{here}/streams.cu"], check=True)
        programs = "/tmp/ncu_streams 10", f"python3 {here}/torch_train.py 10", f"python3 {here}/torch_graphs.py 10"
    different = 0
    with open(os.path.join(out, "ncu_counts.txt"), "w") as file:
        for p in programs:
            ncu, gt = of_ncu(p.split(), "/tmp/ncu_counts.csv"), of_gt(p.split(), "/tmp/ncu_counts.zst")
            other = [name for name in sorted(ncu.keys() | gt.keys()) if ncu[name] != gt[name]]
            for name in sorted(ncu.keys() | gt.keys()):
                print(p, ncu[name], gt[name], name, file=file)
            print(f"{os.path.basename(p)}: {sum(ncu.values())} kernels of {len(ncu)} names by ncu, {sum(gt.values())} of {len(gt)} by gt, "
                  f"{len(other)} names differ", flush=True)
            for name in other:
                print(f"  {ncu[name]} and {gt[name]}: {name[:150]}")
            different += len(other)
    return different > 0


sys.exit(main(*sys.argv[1:]))
