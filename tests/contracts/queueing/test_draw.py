"""The draw: nobody can bend the order of those who waited for the opening, and everybody can recompute it."""

from __future__ import annotations

import json
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

from scripts.local_stack.layout import ROOT
from sync_server.queueing import draw
from tests.app_server import ApiClient, AppServer
from tests.builders import MINUTE
from tests.contracts.queueing.rush import OPENING, Rush, a_rush


def verified(tmp_path: Path, content: bytes, *arguments: str) -> tuple[int, str]:
    """Exit status and words of scripts/verify_draw.py on a file with this content."""
    file = tmp_path / "draw.txt"
    file.write_bytes(content)
    command = [sys.executable, "-I", str(ROOT / "scripts/verify_draw.py"), str(file), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stdout + done.stderr


def waited(rush: Rush, count: int) -> list[ApiClient]:
    """So many guests who join the waiting room."""
    rush.open_room()
    return [rush.join() for _ in range(count)]


def downloaded(rush: Rush) -> bytes:
    return rush.sale.guest().ask("GET", f"{rush.path}/draw/entries").get_data()


def test_the_order_is_drawn_at_the_opening_and_can_be_recomputed(rush: Rush, tmp_path: Path) -> None:
    guests = waited(rush, 9)
    assert {rush.place(guest)["number"] for guest in guests} == {None}
    promised = rush.place(guests[0])["commitment"]
    rush.until(OPENING)
    order = [rush.place(guest)["receipt"] for guest in rush.in_order(guests)]
    content = downloaded(rush)
    assert content.decode().splitlines()[1:] == [receipt.replace("-", "") for receipt in order]
    assert json.loads(content.splitlines()[0])["commitment"] == promised
    assert verified(tmp_path, content)[0] == 0
    status, words = verified(tmp_path, content, "--entry", order[3])
    assert (status, words.split("; ")[1]) == (0, "the receipt is at place 4\n")


def test_whatever_is_changed_in_a_published_draw_is_found(rush: Rush, tmp_path: Path) -> None:
    waited(rush, 5)
    rush.until(OPENING)
    rush.place(rush.join())
    head, *lines = downloaded(rush).splitlines()
    told = json.loads(head)
    assert told["entries"] == 5  # whoever joins after the opening is not in it
    swapped = [head, lines[1], lines[0], *lines[2:]]
    replaced = [head, *lines[:4], b"00" * 16]
    fewer = [json.dumps(told | {"entries": 4}).encode(), *lines[:4]]
    seed = [json.dumps(told | {"seed": "00" * 32}).encode(), *lines]
    for changed in (swapped, replaced, fewer, seed, lines, [head, *lines, lines[0]]):
        status, words = verified(tmp_path, b"\n".join(changed) + b"\n")
        assert status == 1 and "Traceback" not in words


def test_nobody_knows_the_seed_before_the_order(rush: Rush) -> None:
    guest = waited(rush, 1)[0]
    shown = guest.get(f"{rush.path}/draw")
    assert shown["seed"] is None and shown["root"] is None
    assert guest.refused("GET", f"{rush.path}/draw/entries") == (409, "not_drawn")
    rush.until(OPENING)
    rush.place(guest)
    shown = guest.get(f"{rush.path}/draw")
    assert draw.commitment(bytes.fromhex(shown["seed"])).hex() == shown["commitment"]


def test_a_receipt_proves_that_its_guest_takes_part(rush: Rush) -> None:
    guests = waited(rush, 6)
    assert guests[0].refused("GET", f"{rush.path}/receipt") == (409, "not_in_draw")
    rush.until(OPENING)
    rush.place(guests[0])
    root = guests[0].get(f"{rush.path}/draw")["root"]
    for guest in guests:
        shown = guest.get(f"{rush.path}/receipt")
        value = sha256(b"\0" + bytes.fromhex(shown["entry"].replace("-", ""))).digest()
        for step in shown["proof"]:
            beside = bytes.fromhex(step["hash"])
            pair = beside + value if step["side"] == "left" else value + beside
            value = sha256(b"\1" + pair).digest()
        assert value.hex() == root == shown["root"]
    late = rush.join()
    assert late.refused("GET", f"{rush.path}/receipt") == (409, "not_in_draw")


def test_a_public_random_round_named_beforehand_decides_too(app_server: AppServer, tmp_path: Path) -> None:
    rush = a_rush(app_server, beacon_source="drand quicknet, round 4242")
    guests = waited(rush, 4)
    value = {"value": "f00dcafe" * 8}
    assert rush.sale.api.refused("PUT", f"{rush.settings}/beacon", value)[0] == 409  # known too early
    rush.until(OPENING + MINUTE)
    assert rush.place(guests[0])["number"] is None
    late = rush.join()
    assert rush.place(late)["number"] == 5  # behind those who waited, drawn or not
    assert rush.sale.api.refused("PUT", rush.settings, {"beacon_source": "a dice"}) == (409, "queue_closed")
    rush.sale.api.put(f"{rush.settings}/beacon", value)
    assert sorted(rush.place(guest)["number"] for guest in guests) == [1, 2, 3, 4]
    content = downloaded(rush)
    assert verified(tmp_path, content)[0] == 0
    assert verified(tmp_path, content.replace(b"f00d", b"d00d", 1))[0] == 1
    assert rush.sale.api.refused("PUT", f"{rush.settings}/beacon", value) == (409, "already_drawn")


def test_without_anybody_asking_the_worker_draws(rush: Rush) -> None:
    waited(rush, 3)
    rush.until(OPENING + 1)
    rush.app_server.run_worker()
    shown = rush.sale.api.get(rush.settings)
    assert shown["drawn_at"] is not None and shown["figures"]["admitted"] == 2


def test_the_verifier_is_short_enough_to_be_read_by_whoever_doubts() -> None:
    assert len((ROOT / "scripts/verify_draw.py").read_text().splitlines()) <= 100


def test_wrong_arguments_of_the_verifier_are_told_in_a_line(tmp_path: Path) -> None:
    status, words = verified(tmp_path, b"no draw at all\n")
    assert status == 1 and words.endswith("is no published draw, or was damaged on its way.\n")
    assert verified(tmp_path, b"", "--entry", "xyz")[0] == 2
