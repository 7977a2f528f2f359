"""Filter set partitioning: subscriptions are grouped by their signatures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator

from roamcast.content.box.conjunction import fields_of
from roamcast.content.box.range_set import RangeSet
from roamcast.content.box.string_set import StringSet
from roamcast.content.filter import Filter
from roamcast.content.grouping.incremental import ClusterBuilder, Labelled, TypeGrouping
from roamcast.content.schema import EventType
from roamcast.content.summary.bloom import stable_hash

BUCKETS = 16
"Number of buckets per cluster."
BALANCED = 16
"Number of additions between two balance checks."


def signature(filter: Filter) -> str:
    """Return the signature of a filter: its fields, strings and listed values, without numbers."""
    return "|".join(
        sorted(
            ";".join(_sign(filter.type, place, each) for place, each in fields_of(box))
            for box in filter.conjunctions
        )
    )


def _sign(type: EventType, place: int, domain: object) -> str:
    path = type.fields[place].path
    if isinstance(domain, StringSet):
        return f"{path}={','.join(domain.values)}" if domain.values is not None else f"{path}~"
    if type.fields[place].kind.name == "enumeration" and isinstance(domain, RangeSet):
        return f"{path}={domain.spans}"
    return f"{path}#"


class SignatureBucket:
    """Subscriptions whose signatures have the same hash."""

    def __init__(self) -> None:
        self.filters: dict[Hashable, Filter] = {}
        self.signatures: Counter[str] = Counter()
        self.group = -1

    @property
    def weight(self) -> int:
        """The paper's weight: number of distinct signatures times number of subscriptions."""
        return len(self.signatures) * len(self.filters)


class SignaturePartition(TypeGrouping):
    """Buckets of signatures, distributed over K clusters of similar weight.

    A new bucket goes to the lightest cluster. If the heaviest cluster weighs more than twice as much as the
    lightest, its lightest bucket moves there.
    """

    def __init__(self, type: EventType, labels: Iterator[int], k: int | None) -> None:
        super().__init__(type, labels, k)
        self._buckets: dict[int, SignatureBucket] = {}
        self._of: dict[Hashable, tuple[int, str]] = {}
        self._groups: dict[int, ClusterBuilder] = {}
        self._used: Counter[int] = Counter()
        self._weights: Counter[int] = Counter()
        self._arrivals = 0

    def add(self, key: Hashable, filter: Filter) -> None:
        """Add a subscription to the bucket of its signature."""
        text = signature(filter)
        self._used.update({place for box in filter.conjunctions for place, _ in fields_of(box)})
        wanted = self.k or max(1, len(self._used))
        number = stable_hash("signature", text) % (BUCKETS * wanted if self.k else 1 << 16)
        bucket = self._buckets.get(number)
        if bucket is None:
            bucket = self._buckets[number] = SignatureBucket()
            bucket.group = self._lightest(wanted)
        self._of[key] = (number, text)
        before = bucket.weight
        bucket.filters[key] = filter
        bucket.signatures[text] += 1
        self._weights[bucket.group] += bucket.weight - before
        self._groups[bucket.group].add(key, filter)
        self._arrivals += 1
        if self._arrivals % BALANCED == 0:
            self._balance()

    def remove(self, key: Hashable) -> None:
        """Remove a subscription from its bucket."""
        number, text = self._of.pop(key)
        bucket = self._buckets[number]
        before = bucket.weight
        filter = bucket.filters.pop(key)
        self._used.subtract({place for box in filter.conjunctions for place, _ in fields_of(box)})
        self._used += Counter()
        bucket.signatures[text] -= 1
        bucket.signatures += Counter()
        self._weights[bucket.group] += bucket.weight - before
        self._groups[bucket.group].remove(key)
        if not self._groups[bucket.group].filters:
            self._drop(bucket.group)
        if not bucket.filters and self._buckets.get(number) is bucket:
            del self._buckets[number]

    def label(self, key: Hashable) -> int:
        """Return the number of the cluster to which the bucket of `key` belongs."""
        return self._buckets[self._of[key][0]].group

    def groups(self) -> list[Labelled]:
        """Return the clusters that have members."""
        return [(label, tuple(m.filters), m.filter()) for label, m in self._groups.items() if m.filters]

    def weights(self) -> dict[int, int]:
        """Return the weight of each cluster."""
        return {label: self._weights[label] for label in self._groups}

    def _lightest(self, wanted: int) -> int:
        if len(self._groups) < wanted:
            label = next(self.labels)
            self._groups[label] = ClusterBuilder(self.type)
            return label
        weights = self.weights()
        return min(weights, key=lambda label: (weights[label], label))

    def _drop(self, label: int) -> None:
        for number in [n for n, bucket in self._buckets.items() if bucket.group == label]:
            del self._buckets[number]
        del self._groups[label], self._weights[label]

    def _balance(self) -> None:
        weights = self.weights()
        heavy = max(weights, key=lambda label: (weights[label], -label))
        light = min(weights, key=lambda label: (weights[label], label))
        own = [bucket for bucket in self._buckets.values() if bucket.group == heavy]
        if weights[heavy] <= 2 * weights[light] or len(own) < 2:
            return
        # The bucket and the lightest cluster each weigh less than half of the heaviest, so together less than
        # it.
        bucket = min(own, key=lambda each: each.weight)
        bucket.group = light
        self._weights[heavy] -= bucket.weight
        self._weights[light] += bucket.weight
        for key, filter in bucket.filters.items():
            self._groups[heavy].remove(key)
            self._groups[light].add(key, filter)
