# Calls and returns all the time: chains.py SECONDS. Each line that calls a function of this file names it and calls no other one,
# so that tests/cli/collect/sample_timers.sh can check each pair of frames: the caller's line contains "NAME(".
import sys, threading, time


def leaf(n):
    return n * 3 % 7


def middle(n):
    return leaf(n) + 1


def deep(n):
    if n == 0:
        return middle(n)
    return deep(n - 1)


def numbers(n):
    for i in range(n):
        yield leaf(i)


def total(n):
    s = 0
    for i in numbers(n):
        s += i
    return s


def fails(n):
    if n == 0:
        raise ValueError(leaf(n))
    fails(n - 1)


def caught():
    try:
        fails(5)
    except ValueError:
        return leaf(1)


class Item:
    def __init__(self, n):
        self.n = middle(n)

    def key(self):
        return leaf(self.n)


def make(n):
    return [Item.__init__(Item.__new__(Item), i) for i in range(n)]


def work(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        deep(20)
        total(30)
        caught()
        make(10)
        middle(3)


threads = [threading.Thread(target=work, args=(float(sys.argv[1]),)) for i in range(2)]
for t in threads:
    t.start()
for t in threads:
    t.join()
