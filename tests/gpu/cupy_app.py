# CuPy: its own kernels, compiled at run time, and cuBLAS.
import cupy

x = cupy.random.rand(512, 512, dtype=cupy.float32)
for i in range(50):
    x = cupy.sqrt(x @ x + 1)
    x /= x.max()
print(float(x.sum()))
