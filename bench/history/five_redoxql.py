# The five operations of RedoxQL's own speed test, as five.js has them for ours: python five_redoxql.py <rounds>
# Prints, as JSON, seconds by operation for each round; fails if an answer is not the right one.

import json
import sys
from random import choice, randrange
from time import perf_counter

from lstore.db import Database
from lstore.query import Query

COUNT = 10000
RANGE = 100
FIRST = 906659671


def round_of_five():
    times = {}
    query = Query(Database().create_table("Grades", 5, 0))
    keys = [FIRST + i for i in range(COUNT)]
    chosen = [choice(keys) for _ in range(COUNT)]
    changes = [[None if at != column else randrange(0, 100) for at in range(5)] for column in (randrange(1, 5) for _ in range(COUNT))]

    begun = perf_counter()
    for key in keys:
        query.insert(key, 93, 0, 0, 0)
    times["insert"] = perf_counter() - begun

    begun = perf_counter()
    for key, change in zip(chosen, changes):
        query.update(key, *change)
    times["update"] = perf_counter() - begun

    begun = perf_counter()
    for key in chosen:
        query.select(key, 0, [1, 1, 1, 1, 1])
    times["select"] = perf_counter() - begun

    begun = perf_counter()
    total = 0
    for first in range(FIRST, FIRST + COUNT, RANGE):
        total += query.sum(first, first + RANGE - 1, 0)
    times["sum"] = perf_counter() - begun
    if total != sum(keys):
        raise SystemExit("the sum of the keys is %d, not %d" % (total, sum(keys)))

    begun = perf_counter()
    for key in keys:
        query.delete(key)
    times["remove"] = perf_counter() - begun
    return times


print(json.dumps([round_of_five() for _ in range(int(sys.argv[1]))]))
