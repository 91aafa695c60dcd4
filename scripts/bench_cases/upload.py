"""10,000 scans that gates made offline reach the server: signed, chained, answered one by one, reconciled and counted.

The time runs from the first request to the answer after which no gate lacks a mark. Several gates deliver at once, as
after an evening without a network; `one gate` is a single one. The yardstick writes the same entries into one table,
in batches as large, with nothing around it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack

from gate_app.sync.push import Pusher
from scripts.measuring import bare_insert
from scripts.measuring.measured_gate import MeasuredGate
from scripts.measuring.measured_server import MeasuredServer, analyse, measured_server
from scripts.measuring.result import Figure, Goal, Result, at_least
from scripts.measuring.sold_out import issue_tickets, shares
from scripts.measuring.statistics import percentile
from sync_server.scans import queries

SCANS = 10_000
GATES = 4
GOALS = {"postgresql": at_least(5_000), "sqlite": at_least(2_500)}
ONE_GATE = at_least(2_500)


def measure(*, quick: bool) -> Iterator[Result]:
    """Every round is another house: all entries are new to the server."""
    for database in ("postgresql", "sqlite"):
        with measured_server(database) as server:
            yield from _cases(server, database, quick=quick)


def _cases(server: MeasuredServer, database: str, *, quick: bool) -> Iterator[Result]:
    rounds = 1 if quick else 3
    printed = issue_tickets(server, (1 if quick else rounds + 1) * SCANS)
    analyse(server)
    server.serve()
    rates: list[float] = []
    bare: list[float] = []
    for number in range(rounds):
        codes = printed[number * SCANS : (number + 1) * SCANS]
        rates.append(_round(server, codes, GATES, f"{number}", bare))
    yield _result(f"{database} scans per second", rates, bare, GOALS[database])
    if not quick:
        one = [_round(server, printed[rounds * SCANS :], 1, "one", bare)]
        yield _result(f"{database} scans per second one gate", one, bare, ONE_GATE)


def _result(case: str, rates: Sequence[float], bare: Sequence[float], goal: Goal) -> Result:
    rate, most = percentile(rates, 0.5), percentile(bare, 0.5)
    return Result("upload", case, Figure(value=rate, unit="scans/s", yardstick=most, ratio=rate / most), goal)


def _round(server: MeasuredServer, codes: Sequence[str], gates: int, name: str, bare: list[float]) -> float:
    """Scans a second, and in turn with it what the bare loop does."""
    with ExitStack() as ends:
        doors = []
        for number, share in enumerate(shares(codes, gates)):
            folder = server.place.folder / f"gate-{name}-{number}"
            gate = MeasuredGate.enrolled(folder, server.place.address, server.new_device(folder.name))
            ends.callback(gate.close)
            gate.sync()
            _scan_offline(gate, share)
            doors.append(gate)
        rate = len(codes) / _deliver(doors)
        bodies = [body for gate in doors for body in _bodies(gate)]
    _require_counted(server, len(codes))
    bare.append(_bare(server, bodies))
    return rate


def _scan_offline(gate: MeasuredGate, codes: Sequence[str]) -> None:
    for code in codes:
        if gate.show(code, "bench")["reason"] != "admitted":
            raise RuntimeError("a guest with a good ticket was refused")
        gate.lodge.database.rest()


def _deliver(gates: Sequence[MeasuredGate]) -> float:
    """Seconds until nothing is unsent, and nothing was refused."""
    pushers = [gate.lodge.sync(gate.wire, 0)[1] for gate in gates]
    threads = [threading.Thread(target=_push_all, args=(pusher,)) for pusher in pushers]
    begun = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds = time.perf_counter() - begun
    if any(gate.lodge.journal.unsent() for gate in gates):
        raise RuntimeError("the server did not take everything")
    return seconds


def _push_all(pusher: Pusher) -> None:
    while pusher.run_once():
        continue


def _bodies(gate: MeasuredGate) -> list[bytes]:
    return gate.lodge.journal.bodies(gate.lodge.journal.branch, 0, 2 * SCANS)


def _require_counted(server: MeasuredServer, at_least: int) -> None:
    """Everything that was delivered is reconciled and counted by the time it is answered."""
    with server.ground() as ground, ground.parts.database.reading() as session:
        counted = sum(one.n for one in queries.counts(session, server.event) if one.reason == "admitted")
        conflicts = queries.open_conflicts(session, server.made["organisation"]["id"], server.event)
    if counted < at_least or conflicts:
        raise RuntimeError(f"the server counts {counted} admissions and {len(conflicts)} conflicts")


def _bare(server: MeasuredServer, bodies: Sequence[bytes]) -> float:
    if server.place.database_url:
        return bare_insert.into_postgres(server.place.database_url, bodies)
    return bare_insert.into_sqlite(server.place.folder / "bare.db", bodies)
