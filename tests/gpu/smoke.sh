#!/bin/bash
# Smoke test on a machine with a GPU: smoke.sh PORTABLE-TARBALL OUT. Prints the results.
out=$2
mkdir -p /tmp/gt && tar -C /tmp/gt -xzf "$1" && export PATH=/tmp/gt/gt-portable-x86_64/bin:$PATH
gtcollect --doctor; echo "doctor: $?"
for app in "ctypes_app.py" "torch_train.py 200" "torch_infer.py 40" "cupy_app.py" "jax_app.py"; do
	name=${app%%.py*}
	echo "== $app"
	(time timeout 100 gtcollect -f -o $out/$name.zst -- python3 tests/gpu/$app) 2>&1 | tail -8
	gtanalyze $out/$name.zst | head -60 >$out/$name.txt 2>&1
done
nvcc -o /tmp/runtime_static tests/gpu/runtime.cu && gtcollect -f -o $out/runtime.zst -- /tmp/runtime_static && gtanalyze top $out/runtime.zst | head -50
