#!/usr/bin/env python3
"""Are the parameters of CUPTI's callbacks where the guest reads them? callback_params.py
[CUDA_INCLUDE]: compares the layout that follows from formats/cuda/cuda_api.def with the structs of
the toolkit's generated_cuda_meta.h, field by field. Needs the toolkit's headers and cc, no GPU."""
import os, re, subprocess, sys, tempfile

include = sys.argv[1] if len(sys.argv) > 1 else "/usr/local/cuda/include"
root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
table = open(os.path.join(root, "formats/cuda/cuda_api.def")).read()
meta = open(os.path.join(include, "generated_cuda_meta.h")).read()
sizes = {"i": 4, "u": 4, "f": 4, "w": 2, "b": 1, "X": 64}
checks, without = [], 0

for name, params in re.findall(r'GT_API\((\w+), *\d+,[^"]*"([^"]*)"\)', table):
    body = re.search(r"typedef struct %s_params_st \{(.*?)\} %s_params;" % (name, name), meta, re.S)
    if not body:
        without += bool(params)
        continue
    fields = [re.search(r"(\w+)(\[\d+\])?$", f.strip()).group(1) for f in body.group(1).split(";") if f.strip()]
    params = params.split()
    if len(fields) != len(params):
        sys.exit("%s has %d parameters, not %d" % (name, len(fields), len(params)))
    at = 0
    for p, field in zip(params, fields):
        size = sizes.get(p[0], 8)
        align = 1 if p[0] == "X" else 4 if p.startswith("l:location") else size
        at = (at + align - 1) // align * align
        checks.append('_Static_assert(offsetof(%s_params, %s) == %d && sizeof(((%s_params *)0)->%s) == %d, "%s %s");'
                      % (name, field, at, name, field, size, name, field))
        at += size
with tempfile.NamedTemporaryFile("w", suffix=".c") as c:
    c.write("#define __CUDA_API_VERSION_INTERNAL 1\n#include <stddef.h>\n#include <cuda.h>\n#include <generated_cuda_meta.h>\n" + "\n".join(checks))
    c.flush()
    if subprocess.call(["cc", "-w", "-fsyntax-only", "-I" + include, c.name]):
        sys.exit(1)
print("%d parameters are at the expected offsets; %d functions have no struct there"
      % (len(checks), without))
