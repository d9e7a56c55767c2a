"""Python's ways to order threads: calls of C functions that are in order, and one pair that is not."""

import ctypes
import queue
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

library = ctypes.CDLL("./meeting.so")


def beside(function):
    thread = threading.Thread(target=function)
    thread.start()
    return thread


def right_lock(number):
    lock, done = threading.Lock(), []

    def theirs():
        with lock:
            library.put(number)
            done.append(1)

    thread = beside(theirs)
    while True:
        with lock:
            if done:
                library.get(number)
                break
    thread.join()


def right_condition(number):
    condition, done = threading.Condition(), []

    def theirs():
        library.put(number)
        with condition:
            done.append(1)
            condition.notify()

    thread = beside(theirs)
    with condition:
        while not done:
            condition.wait()
    library.get(number)
    thread.join()


def right_event(number):
    event = threading.Event()
    thread = beside(lambda: (library.put(number), event.set()))
    event.wait()
    library.get(number)
    thread.join()


def right_semaphore(number):
    semaphore = threading.Semaphore(0)
    thread = beside(lambda: (library.put(number), semaphore.release()))
    semaphore.acquire()
    library.get(number)
    thread.join()


def right_queue(number):
    for items in queue.Queue(), queue.SimpleQueue():
        thread = beside(lambda: (library.put(number), items.put(1)))
        items.get()
        library.get(number)
        thread.join()


def right_barrier(number):
    barrier = threading.Barrier(2)
    thread = beside(lambda: (library.put(number), barrier.wait()))
    barrier.wait()
    library.get(number)
    thread.join()


def right_join(number):
    beside(lambda: library.put(number)).join()
    library.get(number)


def right_pool(number):
    with ThreadPoolExecutor(2) as pool:
        pool.submit(library.put, number).result()
        library.get(number)


def wrong_overlap(number):
    library.meet()
    thread = beside(lambda: library.put(number))
    library.get(number)
    thread.join()


def wrong_order(number):
    first, second = threading.Lock(), threading.Lock()
    one, two = threading.Event(), threading.Event()

    def take(lock, mine, theirs, other):
        with lock:
            mine.set()
            theirs.wait()
            with other:
                pass

    threads = beside(lambda: take(first, one, two, second)), beside(lambda: take(second, two, one, first))
    for thread in threads:
        thread.join()


for number, (name, function) in enumerate(list(globals().items())):
    if name.startswith(sys.argv[1]):
        function(number)
