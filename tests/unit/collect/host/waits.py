# Waits for known shares of its time, and measures them: waits.py SECONDS. It prints "REASON-percent PERCENT" for its main thread, and the id of
# the thread that holds the GIL. In each 100 ms the main thread waits 25 ms for the GIL, 15 ms for a byte in a pipe, and sleeps 20 ms.
import ctypes, os, sys, threading, time

keeps_gil = ctypes.PyDLL(None)  # calls through it do not release the GIL
now = time.monotonic_ns


def pipes(n): return [os.pipe() for i in range(n)]


def answer_slowly(ask, reply):
    while os.read(ask, 1):
        time.sleep(0.012)
        os.write(reply, b"x")


def hold(ask, reply, since):
    while os.read(ask, 1):
        time.sleep(0.003)  # the main thread waits for the reply then
        since[0] = now()
        keeps_gil.write(reply, b"x", 1)
        keeps_gil.usleep(25000)


def main(seconds):
    (ask, asked), (reply, answer), (hold_ask, hold_asked), (held, holding) = pipes(4)
    child = os.fork()
    if not child:
        os.close(asked)
        answer_slowly(ask, answer)
        os._exit(0)
    os.close(ask)
    since = [0]
    holder = threading.Thread(target=hold, args=(hold_ask, holding, since))
    holder.start()
    spent = {"gil": 0, "pipe read": 0, "sleep": 0}
    begin = now()
    while now() - begin < seconds * 1e9:
        start = now()
        os.write(hold_asked, b"x")
        os.read(held, 1)
        spent["pipe read"] += since[0] - start
        spent["gil"] += now() - since[0]
        start = now()
        os.write(asked, b"x")
        os.read(reply, 1)
        spent["pipe read"] += now() - start
        start = now()
        time.sleep(0.020)
        spent["sleep"] += now() - start
        end = time.thread_time() + 0.040
        while time.thread_time() < end:
            pass
    whole = now() - begin
    os.close(asked)
    os.waitpid(child, 0)
    os.close(hold_asked)
    for reason, ns in spent.items():
        print(reason.replace(" ", "-") + "-percent", 100 * ns / whole)
    print("whole", whole)
    print("main", threading.get_native_id())
    print("holder", holder.native_id)
    holder.join()


main(float(sys.argv[1]))
