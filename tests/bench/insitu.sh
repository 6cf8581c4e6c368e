# The cost of recording a call in an otherwise empty loop (warm) and between much other code
# (cold), and the cost of two clock reads: see insitu.c. CUDA=FILE: a libcuda.so.1 other than the
# simulated one.
cuda=${CUDA:-$B/sim/libcuda.so.1}
${CC:-cc} -O2 -I"$SRC" "$SRC/tests/bench/insitu.c" "$cuda" -o insitu || exit 1
export LD_LIBRARY_PATH="$(dirname "$cuda")"
"$B/gtcollect" -q -f -e api,ioctl -o insitu.zst -- ./insitu
