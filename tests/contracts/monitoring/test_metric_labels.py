"""No client adds series to the metrics, or reads them at the address for the public."""

from __future__ import annotations

from tests.app_server import ApiClient, AppServer


def series(app_server: AppServer) -> set[str]:
    lines = app_server.parts.metrics.text().decode().splitlines()
    return {line.rpartition(" ")[0] for line in lines if line.startswith("gatehouse_")}


def test_invented_requests_share_their_series(app_server: AppServer, api: ApiClient) -> None:
    def ask(word: str) -> None:
        api.ask(word, "/api/events")
        api.ask("GET", f"/{word}")
        api.ask("GET", f"/api/events/{word}", None, **{"X-HTTP-Method-Override": word, "User-Agent": word})

    ask("FIRST")
    before = series(app_server)
    for number in range(200):
        ask(f"WORD{number}")
    assert series(app_server) == before
    assert 'gatehouse_http_requests_total{method="other",route="unknown",status="405"}' in before


def test_the_address_for_the_public_serves_no_metrics(app_server: AppServer) -> None:
    assert app_server.app.test_client().get("/metrics").status_code == 404
