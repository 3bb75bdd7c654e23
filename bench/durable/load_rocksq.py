# RocksQ under a load (load.js says what that is): python load_rocksq.py <load as JSON> <folder>
# Prints nanoseconds per payload as JSON; fails if anything is not what was pushed.

import json
import os
import sys
from collections import deque
from time import perf_counter_ns

from rocksq.blocking import PersistentQueueWithCapacity as BlockingQueue
from rocksq.nonblocking import PersistentQueueWithCapacity as NonBlockingQueue

# as in load.js
RING_LENGTH = 997
BIG_RING_LENGTH = 13
BIG_BYTES = 16384


class Blocking:
    def __init__(self, path):
        queue = BlockingQueue(path)
        self.push = lambda payloads: queue.push(payloads, no_gil=False)
        self.pop = lambda count: queue.pop(max_elements=count, no_gil=False)


class NonBlocking:
    def __init__(self, path):
        self.queue = NonBlockingQueue(path, max_inflight_ops=1000)

    def pop(self, count):
        return self.queue.pop(max_elements=count).get().data


class Payloads:
    def __init__(self, size, batch):
        self.size = size
        length = BIG_RING_LENGTH if size >= BIG_BYTES else RING_LENGTH
        self.heads = [number.to_bytes(2, 'little') for number in range(length)]
        ring = [head + os.urandom(size - 3) + head[:1] for head in self.heads]
        self.batches = [[ring[(i * batch + j) % length] for j in range(batch)] for i in range(length)]

    def check(self, payloads, begin, count):
        if len(payloads) != count:
            raise ValueError(f'miscounted: {len(payloads)} payloads from number {begin} on, of {count}')
        heads, size = self.heads, self.size
        for number, payload in enumerate(payloads, begin):
            head = heads[number % len(heads)]
            if len(payload) != size or payload[:2] != head or payload[-1] != head[0]:
                raise ValueError(f'payload {number} is not what was pushed')


def push_and_pop_all(queue, payloads, count, batch, window):
    push, pop, batches = queue.push, queue.pop, payloads.batches
    begun = perf_counter_ns()
    for i in range(count // batch):
        push(batches[i % len(batches)])
    pushed = perf_counter_ns()
    pop_all(pop, payloads, count, batch)
    return {'pushNs': pushed - begun, 'popNs': perf_counter_ns() - pushed}


def take_turns(queue, payloads, count, batch, window):
    push, pop, check, batches = queue.push, queue.pop, payloads.check, payloads.batches
    begun = perf_counter_ns()
    for i in range(count // batch):
        push(batches[i % len(batches)])
        check(pop(batch), i * batch, batch)
    return {'turnNs': perf_counter_ns() - begun}


def push_in_window(queue, payloads, count, batch, window):
    push, batches, pending = queue.queue.push, payloads.batches, deque()
    begun = perf_counter_ns()
    for i in range(count):
        if len(pending) == window:
            pending.popleft().get()
        pending.append(push(batches[i % len(batches)]))
    while pending:
        pending.popleft().get()
    times = {'pushNs': perf_counter_ns() - begun}
    pop_all(queue.pop, payloads, count, 100)
    return times


def pop_all(pop, payloads, count, batch):
    popped = 0
    while popped < count:
        taken = pop(batch)
        payloads.check(taken, popped, min(batch, count - popped))
        popped += len(taken)


SHAPES = {
    'all': (Blocking, push_and_pop_all),
    'turns': (Blocking, take_turns),
    'parallel': (Blocking, take_turns),
    'window': (NonBlocking, push_in_window),
}


def main(load, folder):
    count, batch = load['count'], load['batch']
    repetitions, window = load.get('repetitions', 1), load.get('window')
    make, run = SHAPES[load['shape']]
    payloads = Payloads(load['size'], batch)
    warm_up_count = -(-count // 10 // batch) * batch
    sums = {}
    for i in range(repetitions + 1):
        queue = make(os.path.join(folder, str(i)))
        times = run(queue, payloads, count if i > 0 else warm_up_count, batch, window)
        if len(queue.pop(1)) > 0:
            raise ValueError('the queue holds more payloads than were pushed')
        if i == 0:
            continue
        for key, time in times.items():
            sums[key] = sums.get(key, 0) + time / (count * repetitions)
    print(json.dumps(sums))


main(json.loads(sys.argv[1]), sys.argv[2])
