# device_cost.py [SETTINGS...]: cost of CUPTI's records of kernels, copies and sets for a loop that
# waits for the GPU (torch_train.py's transformer), with different SETTINGS of CUPTI. Each is a
# word with the names of cupti_client.c's variables, separated by commas
# ("BUFFER=65536,ATTRIBUTES=8=1"), or "-" for none. One process for each, in which CUPTI records
# and does not record in turns of half a second, so that differences between processes have no
# effect. TURNS (16) is the number of pairs, ROUNDS (1) the number of passes over all SETTINGS.
# Prints for each the median ratio of ms per step with the least and the greatest, and the number
# of recorded kernels.
import ctypes
import os
import statistics
import subprocess
import sys
import tempfile

here = os.path.dirname(os.path.abspath(__file__))
TURN = 0.5


def turns(n):
    """The measured process. torch_train.py reads how long to go on from its input: we stand in for that."""
    class Input:
        def __iter__(self):
            client = ctypes.CDLL(os.environ["CUDA_INJECTION64_PATH"])
            yield str(TURN)
            for i in range(n):
                for on in (0, 1) if i % 2 else (1, 0):
                    client.cupti_client_on(on)
                    yield "0.1"
                    yield str(TURN)

    sys.stdin, sys.argv = Input(), ["torch_train.py", "turns", "transformer"]
    exec(compile(open(os.path.join(here, "torch_train.py")).read(), "torch_train.py", "exec"), {"__name__": "__main__"})


def main(settings):
    folder = tempfile.mkdtemp()
    built = f"here={here}; . {here}/clients.sh; build_client {folder} >&2; echo $client; echo $CUPTI_CLIENT_LIBRARY"
    client, cupti = subprocess.run(["bash", "-c", built], stdout=subprocess.PIPE, text=True).stdout.split("\n")[:2]
    n = int(os.environ.get("TURNS", "16"))
    for setting in settings * int(os.environ.get("ROUNDS", "1")):
        log = os.path.join(folder, "log")
        env = dict(os.environ, CUPTI_CLIENT="bare", CUDA_INJECTION64_PATH=client, CUPTI_CLIENT_LIBRARY=cupti, CUPTI_CLIENT_LOG=log)
        for word in setting.split(",") if setting != "-" else []:
            env["CUPTI_CLIENT_" + word.split("=", 1)[0]] = word.split("=", 1)[1]
        open(log, "w").close()
        out = subprocess.run([sys.executable, os.path.abspath(__file__), "--turns", str(n)], stdout=subprocess.PIPE, text=True, env=env).stdout
        ms = [float(line.split()[1]) / int(line.split()[0]) for line in out.splitlines()][2::2]
        ratios = [ms[k] / ms[k + 1] if k % 4 == 0 else ms[k + 1] / ms[k] for k in range(0, len(ms) - 1, 2)]
        lines = [line.split(": ", 1)[1] for line in open(log) if "in all" in line or "refused" in line]
        if not ratios:
            print(f"{setting}: no measurement", flush=True)
            continue
        print(f"{setting}: {statistics.median(ratios):.5f} ({min(ratios):.5f} to {max(ratios):.5f}), {min(ms):.3f} ms; "
              + "; ".join(" ".join(s.split()[:4]) for s in lines), flush=True)


if sys.argv[1:2] == ["--turns"]:
    turns(int(sys.argv[2]))
else:
    main(sys.argv[1:] or ["-"])
