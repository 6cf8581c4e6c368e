"""Records CUDA programs, and reads the recordings.

    python -m gtrace run train.py            (a shell command: records and reports)

    with gtrace.range("step"): ...           (in train.py: an NVTX range)

    recording = gtrace.open("gt-train.py-20260101-120000-42.zst")
    recording.kernels()                      a pandas frame, or without pandas a list of dicts
    recording.report("steps", top=10)

docs/python.md in the sources describes all of it.
"""

from gtrace._nvtx import range
from gtrace._recording import Error, Recording, open, program, reports

__all__ = ["Error", "Recording", "open", "program", "range", "reports"]
