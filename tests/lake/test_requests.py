"""Threads of requests: several for a remote store, few on a local disk."""

from threading import Barrier, get_ident

import pytest

from roamcast.lake.storage import StorageUrl


@pytest.mark.parametrize(("url", "threads"), [("/data/lake", 2), ("s3://bucket/lake", 8)])
def test_a_local_disk_has_few_threads_because_delta_keeps_memory_for_each(url, threads):
    together = Barrier(threads, timeout=60)

    def work(number):
        together.wait()
        return number, get_ident()

    found = StorageUrl(url).each(work, range(4 * threads))
    assert [number for number, _ in found] == list(range(4 * threads))
    assert len({thread for _, thread in found}) == threads
