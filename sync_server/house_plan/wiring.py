"""Lets the log of touched seats follow the facts, and gives the worker its jobs."""

from __future__ import annotations

from typing import Final, cast

from sync_server.house_plan import checking, service
from sync_server.house_plan.board import Board
from sync_server.house_plan.checking import Checker
from sync_server.house_plan.following import Follower
from sync_server.house_plan.pictures import Pictures
from sync_server.house_plan.warming import Warmer
from sync_server.plumbing.parts import Parts, parts
from sync_server.plumbing.work import Job

MEMORY: Final = "house_plan.board"


def wire(parts: Parts) -> None:
    """Every fact about seats gives its event's map a new version."""
    parts.memories[MEMORY] = board = Board(parts)
    parts.loops.extend([Warmer(parts, board).run, board.ear.run])
    follower = Follower(parts)
    parts.announcers.append(follower.hear)
    checker = Checker(Pictures(parts.cache), parts.cache, parts.metrics)
    parts.jobs.extend(
        [
            Job("house_plan.pay_later", 1_000, follower.pay_later),
            Job("house_plan.check", checking.EVERY_MS, checker.check),
            Job("house_plan.forget_old", 600_000, service.forget_old),
        ]
    )


def board() -> Board:
    """What the server answering this request keeps ready."""
    return board_of(parts())


def board_of(parts: Parts) -> Board:
    """What a server with these parts keeps ready."""
    return cast(Board, parts.memories[MEMORY])
