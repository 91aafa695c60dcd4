"""10,000 offline scans uploaded by gates: verified, acknowledged one by one, reconciled and counted.

The time runs from the first request to the response that acknowledges the last entry. Several gates upload at once, as
after a night without a network; `one gate` is a single one. The yardstick only inserts the rows that an upload leaves
behind, into copies of their tables; `one bare table` only the entries, into a table with one index.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack

from gate_app.sync.push import Pusher
from scripts.benchmarking.gates.measured_gate import MeasuredGate
from scripts.benchmarking.result import Figure, Goal, Result, at_least, both
from scripts.benchmarking.rows.sold_tickets import issue_tickets, shares
from scripts.benchmarking.servers.measured_server import MeasuredServer, analyse, measured_server
from scripts.benchmarking.statistics import percentile
from scripts.benchmarking.yardsticks import bare_insert
from scripts.benchmarking.yardsticks.bare_insert import Bare
from sync_server.scans import queries

SCANS = 10_000
GATES = 4
OF_BARE = at_least(0.1, "ratio")
GOALS = {"postgresql": both(at_least(5_000), OF_BARE), "sqlite": at_least(2_500)}
ONE_GATE = at_least(2_500)
ONE_TABLE = {"postgresql": OF_BARE, "sqlite": at_least(2_500)}


def measure(*, quick: bool) -> Iterator[Result]:
    """Measure both databases; every round uploads entries that are new to the server."""
    for database in ("postgresql", "sqlite"):
        with measured_server(database) as server:
            yield from _cases(server, database, quick=quick)


def _cases(server: MeasuredServer, database: str, *, quick: bool) -> Iterator[Result]:
    rounds = 1 if quick else 3
    issued_codes = issue_tickets(server, (1 if quick else rounds + 1) * SCANS)
    analyse(server)
    server.serve()
    rates: list[float] = []
    bare: list[Bare] = []
    for number in range(rounds):
        codes = issued_codes[number * SCANS : (number + 1) * SCANS]
        rates.append(_round(server, codes, GATES, f"{number}", bare))
    same_rows = [each.same_rows for each in bare]
    yield _result(f"{database} scans per second", rates, same_rows, GOALS[database])
    one_table = [each.one_table for each in bare]
    yield _result(f"{database} scans per second one bare table", rates, one_table, ONE_TABLE[database])
    if not quick:
        one = [_round(server, issued_codes[rounds * SCANS :], 1, "one", bare)]
        yield _result(f"{database} scans per second one gate", one, same_rows, ONE_GATE)


def _result(case: str, rates: Sequence[float], bare: Sequence[float], goal: Goal) -> Result:
    rate, bare_rate = percentile(rates, 0.5), percentile(bare, 0.5)
    return Result("upload", case, Figure(value=rate, unit="scans/s", yardstick=bare_rate, ratio=rate / bare_rate), goal)


def _round(server: MeasuredServer, codes: Sequence[str], gates: int, name: str, bare: list[Bare]) -> float:
    """Scans per second; appends the rates of the bare loops to `bare`."""
    with ExitStack() as cleanup:
        measured_gates = []
        for number, share in enumerate(shares(codes, gates)):
            folder = server.layout.folder / f"gate-{name}-{number}"
            gate = MeasuredGate.enrolled(folder, server.layout.address, server.new_device(folder.name))
            cleanup.callback(gate.close)
            gate.sync()
            _scan_offline(gate, share)
            measured_gates.append(gate)
        rate = len(codes) / _upload(measured_gates)
        bodies = [body for gate in measured_gates for body in _bodies(gate)]
    _require_counted(server, len(codes))
    bare.append(_bare(server, bodies))
    return rate


def _scan_offline(gate: MeasuredGate, codes: Sequence[str]) -> None:
    for code in codes:
        if gate.show(code, "bench")["reason"] != "admitted":
            raise RuntimeError("a guest with a good ticket was refused")
        gate.context.database.rest()


def _upload(gates: Sequence[MeasuredGate]) -> float:
    """Seconds until no gate has unsent entries."""
    pushers = [gate.context.sync(gate.transport, 0)[1] for gate in gates]
    threads = [threading.Thread(target=_push_all, args=(pusher,)) for pusher in pushers]
    started = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds = time.perf_counter() - started
    if any(gate.context.journal.unsent() for gate in gates):
        raise RuntimeError("the server did not accept everything")
    return seconds


def _push_all(pusher: Pusher) -> None:
    while pusher.run_once():
        continue


def _bodies(gate: MeasuredGate) -> list[bytes]:
    return gate.context.journal.bodies(gate.context.journal.branch, 0, 2 * SCANS)


def _require_counted(server: MeasuredServer, at_least: int) -> None:
    """RuntimeError unless everything uploaded is reconciled and counted."""
    with server.runtime() as runtime, runtime.parts.database.reading() as session:
        counted = sum(row.n for row in queries.counts(session, server.event_key) if row.reason == "admitted")
        conflicts = queries.open_conflicts(session, server.event_key)
    if counted < at_least or conflicts:
        raise RuntimeError(f"the server counts {counted} admissions and {len(conflicts)} conflicts")


def _bare(server: MeasuredServer, bodies: Sequence[bytes]) -> Bare:
    folder = server.layout.folder
    if server.layout.database_url:
        return bare_insert.into_postgres(server.layout.database_url, bodies)
    return bare_insert.into_sqlite(folder / "gatehouse.db", folder / "bare.db", bodies)
