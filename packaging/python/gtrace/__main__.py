"""The programs as commands of the Python environment: python -m gtrace, gtrace, gtanalyze ..."""

import os
import sys

from gtrace._recording import PROGRAMS, program


def main():
    """Replaces this process by the program that argv[0] names, or gtrace."""
    name = os.path.basename(sys.argv[0])
    name = name if name in PROGRAMS else "gtrace"
    os.environ.setdefault("GT_PYTHON", sys.executable)  # runs the scripts of `gtrace run`
    os.execv(program(name), [name, *sys.argv[1:]])


if __name__ == "__main__":
    main()
