"""For tests/cli/collect/stacks_gdb.sh: gdb writes the stacks of the simulated driver's cuLaunchKernel at random calls.

Stops at two launches of five, chosen at random, until there are STOPS (from the environment). Each line of the file gdb.stacks is: the thread, the number of the launch in it,
and the native frames outside the driver and the guest library, innermost first, as MODULE+0xOFFSET 0xADDRESS; "interpreter" ends them.
"""
import os
import random

import gdb

OWN = ("libcuda.so.1", "libgtpreload.so")
calls, bases = {}, {}
left = int(os.environ["STOPS"])
random.seed(1)
out = open("gdb.stacks", "w")


def base_of(path):
    """What to add to the file's addresses."""
    if path not in bases:
        with open(path, "rb") as file:
            if file.read(17)[16] == 2:  # ET_EXEC: it lies at its own addresses
                bases[path] = 0
        with open("/proc/%d/maps" % gdb.selected_inferior().pid) as maps:
            for line in maps:
                part = line.split(None, 5)
                if len(part) == 6 and part[5].rstrip("\n") == path and int(part[2], 16) == 0:
                    bases.setdefault(path, int(part[0].split("-")[0], 16))
    return bases.get(path, 0)


def frames():
    frame = gdb.newest_frame()
    while frame:
        if frame.type() in (gdb.NORMAL_FRAME, gdb.SIGTRAMP_FRAME):
            pc = frame.pc()
            path = gdb.solib_name(pc) or gdb.current_progspace().filename
            if (frame.name() or "").startswith("_PyEval_EvalFrameDefault"):
                yield "interpreter"
                return
            if os.path.basename(path) not in OWN:
                yield "%s+0x%x 0x%x" % (os.path.basename(path), pc - base_of(os.path.realpath(path)), pc)
        frame = frame.older()


class Launch(gdb.Breakpoint):
    def stop(self):
        global left
        if os.path.basename(gdb.solib_name(gdb.newest_frame().pc()) or "") != OWN[0]:
            return False
        thread = gdb.selected_thread().ptid[1]
        calls[thread] = calls.get(thread, 0) + 1
        if left and random.random() < 0.4:
            out.write("%d %d | %s\n" % (thread, calls[thread], " | ".join(frames())))
            left -= 1
        return False


for setting in ("pagination off", "breakpoint pending on", "startup-with-shell off", "backtrace past-main on", "print thread-events off",
                "backtrace past-entry on", "debuginfod enabled off", "disable-randomization off", "print inferior-events off"):
    try:
        gdb.execute("set " + setting)
    except gdb.error:
        pass
Launch("cuLaunchKernel")
gdb.execute("run")
out.close()
