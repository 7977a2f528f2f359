"""A stand-in for a Spark session that does its work in this process: no JVM, no workers, the same answers.

It has the little that tasks without a shuffle need: a range in partitions, Python over Arrow batches, an
accumulator. Tests of what goes beyond that have a real session.
"""

from itertools import pairwise
from types import SimpleNamespace

import pyarrow as pa


class StandingSession:
    """Does at once, partition after partition, what Spark would do elsewhere."""

    def __init__(self, slots=2, master="local[2]"):
        self.jobs = 0
        self.cancelled = 0
        self.sparkContext = SimpleNamespace(
            defaultParallelism=slots, master=master, accumulator=_Accumulator, cancelAllJobs=self._cancel
        )

    def range(self, start, end, step, partitions):
        ids = list(range(start, end, step))
        cuts = [len(ids) * number // partitions for number in range(partitions + 1)]
        parts = [ids[one:other] for one, other in pairwise(cuts)]
        return Frame(self, [[pa.record_batch({"id": pa.array(part, pa.int64())})] for part in parts])

    def deal(self, items):
        """As `executors.deal` does by a join: one item a partition."""
        import pickle

        pickled = [pickle.dumps(item) for item in items]
        return Frame(self, [[pa.record_batch({"item": pa.array([item], pa.binary())})] for item in pickled])

    def _cancel(self):
        self.cancelled += 1


class Frame:
    """Batches by partition."""

    def __init__(self, session, partitions):
        self.session, self.partitions = session, partitions

    def mapInArrow(self, work, schema):
        """Lazily, as Spark does."""
        return Frame(self.session, [_once(work, part) for part in self.partitions])

    def toArrow(self):
        self.session.jobs += 1
        return pa.Table.from_batches([batch for part in self.partitions for batch in part])


def _once(work, part):
    yield from work(iter(part))


class _Accumulator:
    def __init__(self, zero, how):
        self.value, self._how = how.zero(zero), how

    def add(self, more):
        self.value = self._how.addInPlace(self.value, more)
