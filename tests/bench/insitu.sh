# What recording adds to a call in a loop of nothing else (warm) and between much other code (cold), and what two clock reads alone
# would: see insitu.c. CUDA=FILE: a libcuda.so.1 other than the simulated one.
cuda=${CUDA:-$B/sim/libcuda.so.1}
${CC:-cc} -O2 -I"$SRC" "$SRC/tests/bench/insitu.c" "$cuda" -o insitu || exit 1
export LD_LIBRARY_PATH="$(dirname "$cuda")"
"$B/gtcollect" -q -f -e api,ioctl -o insitu.zst -- ./insitu
