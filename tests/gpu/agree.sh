#!/bin/bash
# agree.sh PORTABLE-TARBALL OUT [LIBCUDA]: the same run counted twice, by gt and by the kernel's
# uprobes, for programs that reach the driver in all possible ways. If a program is not installed
# (nvcc, PyTorch, CuPy, JAX), its line fails with an error.
out=$2
here=$(cd "$(dirname "$0")" && pwd)
. "$here/uprobes.sh"
mkdir -p /tmp/gt "$out" && tar -C /tmp/gt -xzf "$1" && export PATH=/tmp/gt/gt-portable-x86_64/bin:$PATH
lib=${3:-/usr/local/nvidia/lib64/libcuda.so.1}
[ -e "$lib" ] || lib=$(ldconfig -p | awk '/libcuda.so.1 .*x86-64/ { print $NF; exit }')
command -v nvcc >/dev/null && nvcc -o /tmp/runtime_static "$here/runtime.cu" && nvcc -cudart shared -o /tmp/runtime_shared "$here/runtime.cu"
uprobes_start "$lib" || exit 1
while read -r name command; do
	echo "== $name: $command"
	uprobes_count /dev/null
	timeout 100 gtcollect -q -f -o "$out/$name.zst" -- $command >/tmp/log 2>&1 || tail -n 3 /tmp/log
	uprobes_count "$out/$name.counts"
	python3 "$here/compare.py" "$out/$name.counts" "$out/$name.zst"
done <<EOF
ctypes python3 $here/ctypes_app.py
static /tmp/runtime_static
shared /tmp/runtime_shared
train python3 $here/torch_train.py 100
infer python3 $here/torch_infer.py 20
cupy python3 $here/cupy_app.py
jax python3 $here/jax_app.py
linked ${SAMPLES:-build/samples}/train
resolve ${SAMPLES:-build/samples}/resolve
EOF
uprobes_stop
