# kernel_truth.py PORTABLE-TARBALL OUT [STEPS]: compares kernels as recorded by torch.profiler and
# by gtcollect -e api,gpu. A deterministic training loop of STEPS (200) runs in separate processes:
# twice under torch.profiler, once under gtcollect, and once under both at the same time. Kernel
# counts must be equal for every name; the medians of a name that ran ten times or more must be
# within 5 %. The difference of two runs of torch.profiler is printed the same way: no recorder can
# agree better than that. Prints a line for each difference and a verdict for each comparison; all
# names with their figures go to OUT/kernel_truth.txt. Exit status 1 if counts differ. Names are
# compared as __cxa_demangle writes them, as torch.profiler does except for very long ones.
import collections
import ctypes
import json
import os
import platform
import statistics
import subprocess
import sys

NEAR, OFTEN = 0.05, 10


def loop(steps, trace):
    """The program. trace: where torch.profiler's goes; "": not used."""
    import torch

    def body():
        torch.manual_seed(0)
        torch.use_deterministic_algorithms(True)
        nn = torch.nn
        wide = nn.Sequential(nn.Conv2d(3, 32, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(32 * 1024, 256))
        model = nn.Sequential(wide, nn.LayerNorm(256), nn.GELU(), nn.Linear(256, 10)).cuda()
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
        data = torch.randn(8, 64, 3, 32, 32).pin_memory()
        labels = torch.randint(0, 10, (8, 64), device="cuda")
        for i in range(steps):
            loss = torch.nn.functional.cross_entropy(model(data[i % 8].cuda(non_blocking=True)), labels[i % 8])
            optimizer.zero_grad(set_to_none=False)
            loss.backward()
            optimizer.step()
            if i % 50 == 0:
                loss.item()
        torch.cuda.synchronize()

    if not trace:
        return body()
    both = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
    with torch.profiler.profile(activities=both) as profiler:
        body()
    profiler.export_chrome_trace(trace)


def demangled(name):
    """Demangles like libstdc++; other names stay unchanged."""
    out = cxa(name.encode(), None, None, ctypes.byref(ctypes.c_int()))
    return ctypes.string_at(out).decode() if out else name


def under_profiler(trace):
    """{name: [ns]} of kernels, and {kind: count} of copies and sets"""
    kernels, others = collections.defaultdict(list), collections.Counter()
    for e in json.load(open(trace))["traceEvents"]:
        if e.get("cat") == "kernel":
            kernels[demangled(e["name"])].append(float(e["dur"]) * 1000)
        elif e.get("cat") in ("gpu_memcpy", "gpu_memset"):
            others[e["cat"]] += 1
    return {k: (len(v), statistics.median(v)) for k, v in kernels.items()}, others["gpu_memcpy"], others["gpu_memset"]


def tables(report, trace):
    text = subprocess.run(["gtanalyze", "--format", "json", "--top", "0", report, trace], capture_output=True, text=True, check=True).stdout
    return json.loads(text)[report]["rows"]


def under_gt(trace):
    kernels = collections.defaultdict(lambda: (0, 0))
    for r in tables("kernels", trace):
        name = demangled(r["name"])
        n, median = kernels[name]       # two mangled names of one text: the more frequent one's median
        kernels[name] = (n + r["count"], r["p50_ns"] if r["count"] > n else median)
    values = {r["key"]: r["value"] for r in tables("metadata", trace)}
    return dict(kernels), int(values.get("gpu_copies", 0)), int(values.get("gpu_sets", 0)), values


def compare(what, a, b, out):
    (ka, *others_a), (kb, *others_b) = a[:3], b[:3]
    counts, near, often = 0, 0, 0
    for name in sorted(ka.keys() | kb.keys()):
        (na, ma), (nb, mb) = ka.get(name, (0, 0)), kb.get(name, (0, 0))
        print(f"{what}: {na} {nb} {ma:.0f} {mb:.0f} ns {name}", file=out)
        if na != nb:
            counts += 1
            print(f"  count {na} and {nb}: {name[:150]}")
        elif na >= OFTEN:
            often += 1
            close = abs(mb - ma) <= NEAR * ma
            near += close
            if not close:
                print(f"  median {ma:.0f} and {mb:.0f} ns ({mb / ma - 1:+.1%}, {na} times): {name[:120]}")
    same = "equal" if not counts and others_a == others_b else "NOT EQUAL"
    print(f"{what}: {len(ka)} and {len(kb)} names, {sum(n for n, _ in ka.values())} and {sum(n for n, _ in kb.values())} kernels, "
          f"{others_a[0]} and {others_b[0]} copies, {others_a[1]} and {others_b[1]} sets: counts {same} ({counts} names differ); "
          f"medians within 5 % for {near} of {often} names", flush=True)
    return same == "equal"


def main(tarball, out, steps="200"):
    global cxa
    os.makedirs("/tmp/gt", exist_ok=True)
    os.makedirs(out, exist_ok=True)
    subprocess.run(["tar", "-C", "/tmp/gt", "-xzf", tarball], check=True)
    os.environ["PATH"] = f"/tmp/gt/gt-portable-{platform.machine()}/bin:" + os.environ["PATH"]
    os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"       # with it cuBLAS is deterministic
    cxa = ctypes.CDLL("libstdc++.so.6").__cxa_demangle
    cxa.restype = ctypes.c_void_p
    trace = "/tmp/kernel_truth.zst"
    record = ["gtcollect", "-q", "-f", "-o", trace, "--"]

    def run(under, profile):
        subprocess.run(under + [sys.executable, os.path.abspath(__file__), "--loop", steps, profile], check=True)

    run([], "/tmp/kernel_truth_1.json")
    run([], "/tmp/kernel_truth_2.json")
    run(record, "")
    first, second, gt = under_profiler("/tmp/kernel_truth_1.json"), under_profiler("/tmp/kernel_truth_2.json"), under_gt(trace)
    with open(os.path.join(out, "kernel_truth.txt"), "w") as f:
        compare("torch.profiler twice", first, second, f)
        good = compare("torch.profiler and gt", first, gt, f)
        print("  gt:", ", ".join(f"{k} {v}" for k, v in gt[3].items() if k.startswith("gpu_")))
        run(record, "/tmp/kernel_truth_3.json")
        compare("torch.profiler alone and beside gt", first, under_profiler("/tmp/kernel_truth_3.json"), f)
    return 0 if good else 1


if sys.argv[1:2] == ["--loop"]:
    loop(int(sys.argv[2]), sys.argv[3])
else:
    sys.exit(main(*sys.argv[1:]))
