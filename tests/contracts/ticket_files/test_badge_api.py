"""Badges by the API: the same layouts as on the desk's page, and no edit overwrites another one unseen."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest

from shared.badges import ready_made
from tests.app_server import ApiClient
from tests.contracts.checkout.shop_floor import Shop
from tests.contracts.ticket_files.test_badges import sent_to_gates


@pytest.fixture
def editor(shop: Shop) -> ApiClient:
    """An administrator of the organisation, signed in."""
    shop.app_server.user("eva@marquee.example", shop.sale.organisation_id, "admin")
    return shop.app_server.browser("eva@marquee.example")


def badge(shop: Shop) -> str:
    return f"/api/events/{shop.sale.id}/ticket-types/{shop.floor}/badge"


def own(title: str) -> str:
    area = '[[area]]\ntext = "{type}"\nx = 5\ny = 5\nwidth = 80\nheight = 20'
    return f'title = "{title}"\nwidth_mm = 90\nheight_mm = 60\n\n{area}'


def test_a_layout_that_comes_along_is_chosen_and_reaches_gates(shop: Shop, editor: ApiClient) -> None:
    names = [each["name"] for each in editor.get("/api/badge-layouts")["items"]]
    assert names == list(ready_made.names())
    chosen = editor.put(badge(shop), {"ready_made": "wristband"})
    assert chosen["layout"] == ready_made.text_of("wristband")
    assert sent_to_gates(shop) == {shop.stalls: "", shop.floor: ready_made.text_of("wristband")}
    listed = editor.get(f"/api/events/{shop.sale.id}/badges")["items"]
    assert {each["ticket_type"]: bool(each["layout"]) for each in listed} == {shop.stalls: False, shop.floor: True}


def test_an_own_layout_is_read_back_as_it_was_written_and_removed(shop: Shop, editor: ApiClient) -> None:
    editor.put(badge(shop), {"layout": own("Backstage")})
    shown = editor.get(badge(shop))
    assert (shown["title"], shown["layout"], shown["logo"]) == ("Backstage", own("Backstage"), False)
    assert editor.ask("DELETE", badge(shop)).status_code == 204
    assert (editor.get(badge(shop))["layout"], sent_to_gates(shop)[shop.floor]) == ("", "")


def test_who_has_not_seen_the_newest_badge_does_not_remove_it(shop: Shop, editor: ApiClient) -> None:
    seen = {"If-Match": f'"{editor.get(badge(shop))["etag"]}"'}
    editor.put(badge(shop), {"ready_made": "badge"})
    refused = editor.ask("DELETE", badge(shop), **seen)
    assert (refused.status_code, refused.json["error"]["code"]) == (412, "changed_meanwhile")
    assert editor.get(badge(shop))["layout"] == ready_made.text_of("badge")


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"ready_made": "badge", "layout": own("Both")},
        {"ready_made": "poster"},
        {"layout": "title = "},
        {"layout": own("Huge").replace("90", "9000")},
    ],
)
def test_what_is_no_layout_is_refused_and_changes_nothing(shop: Shop, editor: ApiClient, body: dict[str, Any]) -> None:
    assert editor.refused("PUT", badge(shop), body)[0] in {400, 422}
    assert editor.get(badge(shop))["layout"] == ""


def test_a_type_or_an_event_that_is_not_there_is_not_found(shop: Shop, editor: ApiClient) -> None:
    for path in (f"/api/events/{shop.sale.id}/ticket-types/99/badge", badge(shop).replace(shop.sale.id, str(uuid4()))):
        for method, body in (("GET", None), ("PUT", {"ready_made": "badge"}), ("DELETE", None)):
            assert editor.ask(method, path, body).status_code == 404


def test_another_organisation_neither_sees_nor_changes_it(shop: Shop) -> None:
    other = shop.app_server.organisation("rival")
    shop.app_server.user("rita@rival.example", other, "owner")
    rita = shop.app_server.browser("rita@rival.example")
    assert rita.ask("GET", badge(shop)).status_code == 404
    assert rita.ask("PUT", badge(shop), {"ready_made": "badge"}).status_code == 404
    assert sent_to_gates(shop)[shop.floor] == ""


def test_each_choice_is_in_the_audit_log(shop: Shop, editor: ApiClient) -> None:
    editor.put(badge(shop), {"ready_made": "label"})
    editor.ask("DELETE", badge(shop))
    lines = [line for line in editor.get("/api/audit")["items"] if line["action"] == "ticket_type.changed"]
    title = ready_made.layout_of("label").title
    assert sorted(line["after"]["badge"] for line in lines) == ["", title]
