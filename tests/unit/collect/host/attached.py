# A program that gtcollect attaches to while it waits for a line: then a thread and a child, which start now, use the processor for 0.5 s each.
import os, sys, threading, time


def spin():
    end = time.thread_time() + 0.5
    while time.thread_time() < end:
        sum(range(20000))


def late_thread(): spin()


def late_child(): spin()


def main():
    sys.stdin.readline()  # waits
    t = threading.Thread(target=late_thread)
    t.start()
    child = os.fork()
    if not child:
        late_child()
        os._exit(0)
    os.waitpid(child, 0)
    t.join()


main()
