"""Tickets come back while parties wait: nobody is split, and no seat idles while it fits somebody."""

from __future__ import annotations

import os

import pytest

from tests.app_server import AppServer
from tests.contracts.waiting_list.sold_out import a_sold_out_event, simulate

REFUNDS = int(os.environ.get("GATEHOUSE_WAITING_REFUNDS", "150"))
"""10,000 by hand; see docs/waiting-list.md."""


@pytest.mark.timeout(max(300, REFUNDS))
def test_refunds_with_a_waiting_list(app_server: AppServer) -> None:
    sold = a_sold_out_event(app_server)
    figures = simulate(sold, REFUNDS)
    assert figures["refunds"] >= REFUNDS and figures["bought"] and figures["left"]
    print(dict(figures))
