#!/bin/bash
# The wheel on a machine with a GPU and PyTorch: wheel.sh WHEEL OUT. Installs it into a new environment, records
# wheel_app.py by `python -m gtrace run`, and prints what the module reads.
set -e
python3 -m venv /tmp/wheel || python3 -m venv --without-pip /tmp/wheel
python3 -m pip --python /tmp/wheel/bin/python install -q --no-index "$1"
# An environment does not see the packages of another one, unless a file .pth names their folder.
python3 -c 'import os, torch; print(os.path.dirname(os.path.dirname(torch.__file__)))' >"$(echo /tmp/wheel/lib/python3*/site-packages)/torch.pth"
cd "$(dirname "$0")"
/tmp/wheel/bin/python -m gtrace run -f -o "$2/wheel.zst" wheel_app.py 50
/tmp/wheel/bin/python - "$2/wheel.zst" <<-'end'
	import sys
	import gtrace

	recording = gtrace.open(sys.argv[1])
	for name in "nvtx_gpu_proj_sum", "kernels", "steps":
	    print(name, type(recording.report(name)).__name__)
	    print(recording.report(name, top=5))
	    sys.stdout.flush()
end
/tmp/wheel/bin/python - <<-'end'
	import timeit
	import gtrace

	print("not recorded: with", round(min(timeit.repeat('with r("x"): pass', globals={"r": gtrace.range}, number=100000)) * 1e4), "ns")
end
