"""A server process opens no more connections to PostgreSQL than the guide says, however many ask at once."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from sync_server.plumbing.sql.autocommit import CONNECTIONS
from tests.services.mortal_server import MortalServer

POOL, BUS, CROWD = 4, 2, 40
NAME = "the server of the crowd"
OPEN = f"SELECT COUNT(*) FROM pg_stat_activity WHERE application_name = '{NAME}'"


def test_a_crowd_is_served_by_as_many_connections_as_the_guide_says(postgres_url: str, tmp_path: Path) -> None:
    """`database_connections`, four for holds and maps, two for the bus; whoever finds none free waits for one."""
    server = MortalServer(postgres_url, tmp_path, PGAPPNAME=NAME, GATEHOUSE_DATABASE_CONNECTIONS=str(POOL))
    try:
        server.start()
        staff = {"Authorization": f"Bearer {server.demo['api_token']}", "Content-Type": "application/json"}
        event, over = f"/api/events/{server.event}", threading.Event()
        seats = [seat for (seat,) in server.rows("SELECT id FROM layout_seats ORDER BY number LIMIT 40")]

        def ask(number: int) -> set[int]:
            hold = server.ask("POST", f"{event}/seats/{seats[number]}/reserve", staff, {})[0]
            reads = [server.ask("GET", path, staff)[0] for path in (event, "/api/orders", f"{event}/ticket-types")]
            sale = {"seats": [{"seat_id": "nowhere"}], "method": "cash"}
            return {hold, *reads, server.ask("POST", f"{event}/sales", staff, sale)[0]}

        def watch() -> int:
            """The most that were open at once."""
            most = 0
            while not over.wait(0.01):
                most = max(most, server.rows(OPEN)[0][0])
            return most

        with ThreadPoolExecutor(CROWD + 1) as pool:
            watching = pool.submit(watch)
            answers = [pool.submit(ask, number) for number in range(CROWD)]
            statuses = set().union(*(answer.result() for answer in answers))
            over.set()
        assert statuses <= {200, 201, 400, 404, 409, 429}, "nobody is refused for want of a connection"
        assert POOL < watching.result() <= POOL + CONNECTIONS + BUS
    finally:
        server.close()
