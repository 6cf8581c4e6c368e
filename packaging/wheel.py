"""packaging/wheel.py TREE WHEEL: packs the folder TREE into the file WHEEL, a zip with a RECORD.

Only Python's standard library is used. Files are in the order of their names, with the date of
SOURCE_DATE_EPOCH, so two runs make the same bytes.
"""

import base64
import hashlib
import os
import sys
import time
import zipfile


def files_of(tree):
    """The paths of all files, relative to tree; those of the dist-info folder last, as PEP 427
    recommends."""
    found = [
        os.path.relpath(os.path.join(folder, name), tree)
        for folder, _, names in os.walk(tree)
        for name in names
    ]
    return sorted(found, key=lambda path: (".dist-info" in path, path))


def pack(tree, wheel):
    epoch = int(os.environ.get("SOURCE_DATE_EPOCH", 0))
    date = time.gmtime(max(epoch, 315532800))[:6]  # zip has no date before 1980
    record = []
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as out:

        def put(path, data, executable=False):
            info = zipfile.ZipInfo(path, date)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = (0o100755 if executable else 0o100644) << 16
            out.writestr(info, data)

        for path in files_of(tree):
            full = os.path.join(tree, path)
            with open(full, "rb") as f:
                data = f.read()
            put(path, data, os.access(full, os.X_OK))
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record.append(f"{path},sha256={digest},{len(data)}\n")
            if path.endswith(".dist-info/WHEEL"):
                name = os.path.dirname(path) + "/RECORD"
        put(name, "".join(record) + f"{name},,\n")


pack(*sys.argv[1:])
