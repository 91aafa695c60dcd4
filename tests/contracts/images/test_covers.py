"""Covers are added, ordered and removed; their images are public and cacheable for ever."""

from __future__ import annotations

import io
from typing import Any

from PIL import Image
from werkzeug.test import TestResponse

from tests.app_server import ApiClient, AppServer, Concert
from tests.builders import DAY, EVENING, HOUR


def a_picture(colour: str = "red", kind: str = "PNG") -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (640, 400), colour).save(out, kind)
    return out.getvalue()


def send(concert: Concert, content: bytes, query: str = "", **headers: Any) -> TestResponse:
    path = f"{concert.path}/covers{query}"
    return concert.api.client.post(path, data=content, headers=concert.api.headers | headers)


def add_cover(concert: Concert, colour: str) -> str:
    response = send(concert, a_picture(colour))
    assert response.status_code == 201, response.json
    return str(response.json["items"][-1]["id"])


def status_of(app_server: AppServer, id: str) -> int:
    return app_server.app.test_client().get(f"/images/{id}/320.webp").status_code


def test_image_of_a_cover_is_public_and_immutable(app_server: AppServer, concert: Concert) -> None:
    cover = send(concert, a_picture(kind="JPEG"), "?alt=A%20red%20hall").json["items"][0]
    assert cover["alt"] == "A red hall" and cover["url"] == f"/images/{cover['id']}/1600.jpg"
    visitor = app_server.app.test_client()
    for form in ("320.webp", "800.jpg", "1600.webp"):
        response = visitor.get(f"/images/{cover['id']}/{form}")
        assert response.status_code == 200
        assert response.headers["Cache-Control"] == "public, max-age=31536000, immutable"
        assert response.headers["X-Content-Type-Options"] == "nosniff"
        assert response.content_type == ("image/webp" if form.endswith("webp") else "image/jpeg")
        with Image.open(io.BytesIO(response.data)) as picture:
            assert picture.size[0] == min(640, int(form.split(".")[0]))
        again = visitor.get(f"/images/{cover['id']}/{form}", headers={"If-None-Match": response.headers["ETag"]})
        assert (again.status_code, again.data) == (304, b"")
    event = concert.api.get(concert.path)
    assert event["image_url"] == cover["url"] and event["thumbnail_url"].endswith("/320.webp")
    for missing in (f"/images/{cover['id']}/321.webp", f"/images/{'0' * 40}/320.webp"):
        assert visitor.get(missing).status_code == 404


def test_idempotency_key_adds_a_cover_once(concert: Concert) -> None:
    first, again, other = (
        send(concert, a_picture(colour), **{"Idempotency-Key": "poster"}) for colour in ("red", "red", "blue")
    )
    assert (first.status_code, again.status_code) == (201, 201) and first.json == again.json
    assert (other.status_code, other.json["error"]["code"]) == (409, "idempotency_key_reused")
    assert len(concert.api.get(f"{concert.path}/covers")["items"]) == 1
    in_a_form = [_form(concert, colour) for colour in ("red", "red", "blue")]
    assert [response.status_code for response in in_a_form] == [201, 201, 409]


def _form(concert: Concert, colour: str) -> TestResponse:
    form = {"file": (io.BytesIO(a_picture(colour)), f"{colour}.png")}
    return concert.api.client.post(
        f"{concert.path}/covers", data=form, headers=concert.api.headers | {"Idempotency-Key": "another"}
    )


def test_cover_can_be_sent_as_a_form(concert: Concert) -> None:
    form = {"file": (io.BytesIO(a_picture()), "../../etc/passwd.svg"), "alt": "A hall"}
    response = concert.api.client.post(f"{concert.path}/covers", data=form, headers=concert.api.headers)
    assert (response.status_code, response.json["items"][0]["alt"]) == (201, "A hall")
    nothing = concert.api.client.post(
        f"{concert.path}/covers", data={"alt": "x"}, headers=concert.api.headers, content_type="multipart/form-data"
    )
    assert (nothing.status_code, nothing.json["error"]["code"]) == (400, "invalid_request")


def test_covers_are_ordered_described_and_removed(app_server: AppServer, concert: Concert) -> None:
    api, path = concert.api, f"{concert.path}/covers"
    red, green, blue = (add_cover(concert, colour) for colour in ("red", "green", "blue"))
    assert [each["id"] for each in api.put(path, {"ids": [blue, red, green]})["items"]] == [blue, red, green]
    assert api.patch(f"{path}/{red}", {"alt": "Red"})["items"][1]["alt"] == "Red"
    assert [each["id"] for each in api.ask("DELETE", f"{path}/{blue}").json["items"]] == [red, green]
    assert [each["id"] for each in api.put(path, {"ids": [green]})["items"]] == [green]
    assert (status_of(app_server, blue), status_of(app_server, red), status_of(app_server, green)) == (404, 404, 200)
    for wrong in ([green, green], [red], ["x"]):
        assert api.refused("PUT", path, {"ids": wrong})[0] == 400
    assert api.refused("DELETE", f"{path}/{red}") == (404, "cover_not_found")


def test_event_has_at_most_eight_covers_and_no_duplicates(concert: Concert) -> None:
    for number in range(8):
        add_cover(concert, f"#0000{number:02x}")
    assert len(send(concert, a_picture("#000000"), "?alt=again").json["items"]) == 8
    response = send(concert, a_picture("white"))
    assert (response.status_code, response.json["error"]["code"]) == (409, "too_many_covers")


def test_image_is_deleted_with_its_last_use(app_server: AppServer, concert: Concert) -> None:
    red = add_cover(concert, "red")
    copy = concert.api.post(f"{concert.path}/copy", {"start_at": EVENING + DAY + 2 * HOUR})
    assert [cover["id"] for cover in copy["covers"]] == [red]
    concert.api.ask("DELETE", f"{concert.path}/covers/{red}")
    assert status_of(app_server, red) == 200
    concert.api.ask("DELETE", f"/api/events/{copy['id']}/covers/{red}")
    assert status_of(app_server, red) == 404


def test_organisations_do_not_share_images(app_server: AppServer, concert: Concert) -> None:
    from tests.app_server import a_concert

    rival = a_concert(app_server.api(app_server.organisation("rival")))
    mine, theirs = add_cover(concert, "red"), add_cover(rival, "red")
    assert mine != theirs
    assert rival.api.refused("GET", f"{concert.path}/covers") == (404, "event_not_found")
    foreign = Concert(rival.api, concert.venue, concert.event)
    assert send(foreign, a_picture()).status_code == 404
    rival.api.ask("DELETE", f"{rival.path}/covers/{theirs}")
    assert (status_of(app_server, mine), status_of(app_server, theirs)) == (200, 404)


def test_invalid_images_are_refused(app_server: AppServer, api: ApiClient, concert: Concert) -> None:
    responses = {
        "picture_unknown": send(concert, b"<svg/>", **{"Content-Type": "image/png"}),
        "picture_damaged": send(concert, a_picture()[:60]),
        "too_large": send(concert, b"\xff\xd8\xff" + bytes(11 * 1024 * 1024)),
        "invalid_request": send(concert, b""),
    }
    assert {code: response.json["error"]["code"] for code, response in responses.items()} == {
        code: code for code in responses
    }
    assert [response.status_code for response in responses.values()] == [400, 400, 413, 400]
    assert api.get(f"{concert.path}/covers")["items"] == []
    assert app_server.app.test_client().post(f"{concert.path}/covers", data=a_picture()).status_code == 401
    reader = Concert(app_server.api(_organisation(app_server), ["read"]), concert.venue, concert.event)
    assert send(reader, a_picture()).status_code == 403


def _organisation(app_server: AppServer) -> str:
    from sync_server.accounts import queries

    with app_server.database.reading() as session:
        found = queries.organisation_by_slug(session, "marquee")
        assert found is not None
        return found.id


def test_a_draft_without_a_picture_is_warned_of_before_it_is_published(concert: Concert) -> None:
    assert [one["code"] for one in concert.api.get(concert.path)["warnings"]] == ["no_cover"]
    add_cover(concert, "red")
    assert concert.api.get(concert.path)["warnings"] == []


def test_nothing_is_forbidden_and_what_is_published_is_not_nagged_about(concert: Concert) -> None:
    assert concert.api.post(f"{concert.path}/publish", {}, 200)["warnings"] == []
