# ns of a walk through the frames of Python, by the python3 of this machine: functions that call one another, each with
# its own code, 17 and 60 frames. The walk is repeated; the best of many is taken, as other processes interrupt it.
cat >bench.py <<'P'
import ctypes, sys
library = ctypes.PyDLL(sys.argv[1])
library.gt_test_time.restype = ctypes.c_double
library.gt_test_find()
frames = ctypes.c_uint()

def measure():
    return min(library.gt_test_time(1000, ctypes.byref(frames)) for _ in range(3000)) / 1000

def chain(n):
    below = measure
    for i in range(n):
        space = {"below": below}
        exec("def f%d(a=1):\n    b = a + 1\n    return below()\n" % i, space)
        below = space["f%d" % i]
    return below()

found = []
for n in (17, 60):
    chain(1)
    found.append(chain(n - frames.value + 1))
    assert frames.value == n, frames.value
    print("python_stack_%d_frames_ns %.1f ns" % (n, found[-1]))
print("python_frame_ns %.2f ns" % ((found[1] - found[0]) / (60 - 17)))
P
python3 bench.py "$B/guest/fake/libpythonstacks.so"
