#!/bin/bash
# record.sh PORTABLE-TARBALL OUT: makes the traces of samples/recorded, and measures the bytes per
# call with each --args. PARTS (default "gpu sizes"): gpu: the traces of one GPU; nccl: the one of
# two GPUs; sizes: calls only, for the older two, with each --args.
out=$2
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p /tmp/gt /tmp/record && tar -C /tmp/gt -xzf "$1" && export PATH=/tmp/gt/gt-portable-x86_64/bin:$PATH
parts=${PARTS:-gpu sizes}
cp "$here/torch_train.py" /tmp/record/train.py && cp "$here/torch_infer.py" /tmp/record/infer.py && cp "$here/torch_graphs.py" /tmp/record/graphs.py
cp "$here/torch_nvtx.py" /tmp/record/nvtx.py && cp "$here/torch_nccl.py" /tmp/record
command -v nvcc >/dev/null && nvcc -o /tmp/record/streams "$here/streams.cu"
cd /tmp/record || exit 1

gpu() {
	gtcollect -f -o "$out/h200-train.zst" -- python3 train.py 200
	gtcollect -f -o "$out/h200-inference.zst" -- python3 infer.py 40
	gtcollect -f -o "$out/h200-graphs.zst" -- python3 graphs.py 100
	gtcollect -f -o "$out/h200-streams.zst" -- ./streams 500
	gtcollect -f -o "$out/h200-nvtx.zst" -- python3 nvtx.py 20
}

nccl() { NCCL_NVLS_ENABLE=0 gtcollect -f -o "$out/h200x2-nccl.zst" -- python3 torch_nccl.py 50; }

sizes() {
	gtcollect -f -e api,ioctl -o "$out/train.zst" -- python3 train.py 200
	gtcollect -f -e api,ioctl -o "$out/infer.zst" -- python3 infer.py 40
	for args in none key all; do
		for what in "train 1000" "infer 200"; do
			set -- $what
			gtcollect -q -f -e api,ioctl --args $args -o /tmp/record/$1-$args.zst -- python3 $1.py $2 >/dev/null
			calls=$(gtanalyze summary --format json /tmp/record/$1-$args.zst | sed -n 's/.*"api_calls": \([0-9]*\).*/\1/p')
			echo "$1 --args $args: $(stat -c %s /tmp/record/$1-$args.zst) bytes, $calls calls, $(stat -c %s /tmp/record/$1-$args.zst | awk -v n=$calls '{ printf "%.3f", $1 / n }') bytes a call"
		done
	done
}

for part in $parts; do $part; done
