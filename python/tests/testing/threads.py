"""Threads that do the same work at the same time."""

import threading

THREADS = 8


def together(work):
    """Runs work(i) on each thread, all from the same moment on; the first error is raised here."""
    errors = []
    start = threading.Barrier(THREADS)

    def guarded(i):
        start.wait()
        try:
            work(i)
        except BaseException as error:  # a failed assertion, too
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(i,)) for i in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
