"""Heavy work is done one piece at a time."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from shared.errors import Unavailable
from sync_server.plumbing.lanes import Lane


def test_one_at_a_time_and_only_so_many_wait() -> None:
    lane, inside, most = Lane("other pictures", waiting=3, retry_after=7), 0, 0
    began, go_on = threading.Semaphore(0), threading.Event()

    def work() -> str:
        nonlocal inside, most
        try:
            began.release()
            with lane.turn():
                inside += 1
                most = max(most, inside)
                go_on.wait(60)
                inside -= 1
        except Unavailable as refusal:
            return f"{refusal.message} {refusal.details['retry_after']}"
        return "done"

    with ThreadPoolExecutor(8) as pool:
        asked = [pool.submit(work) for _ in range(8)]
        refused = "The server has enough to do with other pictures. Nothing was changed. Try again shortly. 7"
        while sum(one.done() for one in asked) < 4:
            began.acquire(timeout=1)
        go_on.set()
        assert sorted(one.result(60) for one in asked) == [refused] * 4 + ["done"] * 4
    assert most == 1
    with lane.turn():
        pass


def test_failed_work_leaves_the_lane() -> None:
    lane = Lane("other pictures", waiting=0, retry_after=1)
    for _ in range(3):
        with pytest.raises(ValueError, match="broken"), lane.turn():
            raise ValueError("broken")
