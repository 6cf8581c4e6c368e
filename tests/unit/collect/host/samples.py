# Spends 30 % of its time in a, 50 % in b and 20 % asleep: samples.py SECONDS [ROUNDS], where 20 rounds take so many seconds. a and b have
# one line each, and each is called at one line; tests/cli/collect/samples.sh finds them by their comments.
import sys, threading, time


def a(n): return sum([i * i % 7 for i in range(n)])  # line a


def b(n): return sum([i * i % 7 for i in range(n)])  # line b


def busy(f, seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        f(500)  # called


def asleep(seconds):
    time.sleep(seconds)  # asleep


def main(seconds, rounds=20):
    for i in range(int(rounds)):
        busy(a, 0.015 * seconds)  # calls a
        busy(b, 0.025 * seconds)  # calls b
        asleep(0.010 * seconds)


t = threading.Thread(target=main, args=[float(a) for a in sys.argv[1:]])
t.start()
t.join()
