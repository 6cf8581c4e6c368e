# --via inject on this kernel and processor: calls and GPU work of a program that runs, which goes on.
. "$SRC/tests/lib.sh"
G=$B/gtcollect
export LD_LIBRARY_PATH=$B/sim
maps() { grep -c 'libcuda.so' /proc/$program/maps | sed 's/^[1-9].*/yes/'; }

"$B/samples/train" -n 100000000 >/dev/null 2>&1 &
program=$!
until_it_is yes maps
want attaches 0 "$G" --via inject -f -o train.zst -p $program --duration 2s
check has-calls test "$(calls cuLaunchKernel train.zst)" -gt 0
check has-kernels test "$(calls 'relu<float>' train.zst)" -gt 0
check program-goes-on kill -0 $program
kill $program
wait $program 2>/dev/null

"$B/unit/test_remote_call"
