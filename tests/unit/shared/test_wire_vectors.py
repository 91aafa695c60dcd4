"""The published bytes of the wire never change, and a second reader written from the page finds the same in them."""

from __future__ import annotations

import hmac
import json
from base64 import b64decode, b64encode
from hashlib import blake2b, sha256
from pathlib import Path
from typing import Any

import msgspec
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from shared.errors import Untrusted
from shared.journal.scans import check_chain, correct, decode, encode, entry_hash
from shared.wire import enrolment, protocol
from shared.wire.http_signatures import sign_request, verify_answer, verify_request
from shared.wire.rows import Row, RowKind
from shared.wire.snapshot import from_frame, movements_from_bytes
from tests.unit.shared.wire_builders import a_key
from tests.vectors.make_wire import FILES, FOLDER, as_entry, as_row, movements, written

SNAPSHOT, CHAINS, REQUESTS = (json.loads((FOLDER / name).read_text()) for name in FILES)


def named(case: dict[str, Any]) -> str:
    return str(case.get("name") or case.get("to") or case.get("secret") or case.get("type"))


def without_compressed(document: Any) -> Any:
    """Another build of the compressor may squeeze otherwise; what is inside is held by tests of its own."""
    if isinstance(document, dict):
        return {key: without_compressed(value) for key, value in document.items() if key not in {"frame", "bytes"}}
    return [without_compressed(value) for value in document] if isinstance(document, list) else document


@pytest.mark.parametrize("name", FILES)
def test_the_file_is_what_its_maker_makes(name: str) -> None:
    text = Path(FOLDER / name).read_text()
    assert without_compressed(json.loads(text)) == without_compressed(json.loads(written(name)))


# --- snapshot.json ---


def a_row(said: dict[str, Any]) -> Row:
    body = None if said["body"] is None else bytes.fromhex(said["body"])
    return Row(RowKind(said["kind"]), int(said["key"]), body)


@pytest.mark.parametrize("case", SNAPSHOT["frames"], ids=named)
def test_a_frame_holds_its_rows(case: dict[str, Any]) -> None:
    rows = from_frame(bytes.fromhex(case["frame"]))
    assert [as_row(row) for row in rows] == case["rows"]
    assert rows == [a_row(said) for said in case["rows"]]


def test_the_digest_is_the_sum_of_the_hashes() -> None:
    total = 0
    for said in SNAPSHOT["rows"]:
        text = bytes([said["kind"]]) + int(said["key"]).to_bytes(8, "big") + bytes.fromhex(said["body"])
        assert blake2b(text, digest_size=16, person=b"gatehouse:row:1").hexdigest() == said["hash"]
        total += int(said["hash"], 16)
    assert f"{total % 2**128:032x}" == SNAPSHOT["digests"]["all of them"]


def test_the_movements_are_these() -> None:
    assert movements_from_bytes(bytes.fromhex(SNAPSHOT["movements"]["bytes"])) == movements()


# --- chains.json ---


@pytest.mark.parametrize("case", CHAINS["entries"], ids=lambda case: case["entry"]["kind"])
def test_an_entry_has_these_bytes_and_this_hash(case: dict[str, Any]) -> None:
    body = bytes.fromhex(case["body"])
    assert as_entry(decode(body)) == case["entry"]
    assert encode(decode(body)) == body
    assert entry_hash(body).hex() == case["hash"] == sha256(b"gatehouse:entry:1\0" + body).hexdigest()


def test_each_entry_names_the_hash_before_it() -> None:
    hashes = [CHAINS["genesis"], *(case["hash"] for case in CHAINS["entries"])]
    assert [case["entry"]["previous"] for case in CHAINS["entries"]] == hashes[:-1]
    assert check_chain([bytes.fromhex(case["body"]) for case in CHAINS["entries"]], bytes(32)).ok


def test_the_head_is_signed_by_the_device() -> None:
    head = CHAINS["head"]
    assert head["message"].endswith(CHAINS["entries"][-1]["hash"])
    Ed25519PublicKey.from_public_bytes(bytes.fromhex(head["public"])).verify(
        bytes.fromhex(head["signature"]), bytes.fromhex(head["message"])
    )


@pytest.mark.parametrize("case", CHAINS["broken"], ids=named)
def test_a_broken_chain_breaks_where_it_says(case: dict[str, Any]) -> None:
    report = check_chain([bytes.fromhex(body) for body in case["bodies"]], bytes(32))
    assert (report.ok, report.broken_at) == (False, case["broken_at"])


@pytest.mark.parametrize("case", CHAINS["times"], ids=named)
def test_times_are_corrected_alike(case: dict[str, Any]) -> None:
    entries = [decode(bytes.fromhex(body)) for body in case["bodies"]]
    assert [[at, uncertainty] for _, at, uncertainty in correct(entries)] == case["corrected"]


# --- requests.json ---


def key(name: str) -> Ed25519PublicKey:
    return Ed25519PublicKey.from_public_bytes(bytes.fromhex(REQUESTS[name]))


def signature_of(headers: dict[str, str]) -> bytes:
    return b64decode(headers["Signature"].split(":", 1)[1].rstrip(":"))


def parts_of(case: dict[str, Any]) -> tuple[str, str, str, str, bytes]:
    return case["method"], case["authority"], case["path"], case["query"], bytes.fromhex(case["body"])


@pytest.mark.parametrize("case", REQUESTS["requests"], ids=named)
def test_a_request_is_signed_like_this(case: dict[str, Any]) -> None:
    key("gate_public").verify(signature_of(case["headers"]), case["base"].encode())
    said = {"device": case["device"], "channel": case["channel"], "counter": case["counter"]}
    assert sign_request(*parts_of(case), key=a_key(1), **said) == case["headers"]
    request = verify_request(*parts_of(case), case["headers"], key("gate_public"))
    assert (request.device, request.channel, request.counter) == (4, case["channel"], case["counter"])


@pytest.mark.parametrize("case", REQUESTS["answers"], ids=named)
def test_an_answer_is_signed_like_this(case: dict[str, Any]) -> None:
    key("server_public").verify(signature_of(case["headers"]), case["base"].encode())
    asked = bytes.fromhex(case["request_signature"])
    assert b64encode(asked).decode() in case["base"]
    answer = verify_answer(case["status"], bytes.fromhex(case["body"]), case["headers"], key("server_public"), asked)
    assert (answer.server_time, answer.position) == (case["server_time"], case["position"])
    with pytest.raises(Untrusted):
        verify_answer(case["status"], bytes.fromhex(case["body"]), case["headers"], key("gate_public"), asked)


@pytest.mark.parametrize("case", REQUESTS["enrolments"], ids=named)
def test_an_enrolment_goes_like_this(case: dict[str, Any]) -> None:
    code = enrolment.parse(case["text"])
    assert (code.secret.hex(), code.id.hex(), code.shown(case["address"])) == (
        case["secret"],
        case["id"],
        case["shown"],
    )
    assert enrolment.offered(case["shown"]) == enrolment.Offer(code, case["address"])
    secret, device, server, nonce = (
        bytes.fromhex(case[name]) for name in ("secret", "device_public", "server_public", "nonce")
    )
    by_hand = b"gatehouse:enrol-gate:1\0" + code.id + device + sha256(b"gatehouse:server-key:1\0" + server).digest()[:5]
    assert hmac.new(secret, by_hand + nonce, sha256).hexdigest() == case["proof"]
    answer = b"gatehouse:enrol-server:1\0" + code.id + device + server + nonce
    assert hmac.new(secret, answer, sha256).hexdigest() == case["server_proof"]
    figures = sha256(b"gatehouse:check-number:1\0" + device + server + nonce).digest()[:8]
    assert f"{int.from_bytes(figures, 'big') % 10**6:06}" == case["check_number"]


@pytest.mark.parametrize("case", REQUESTS["messages"], ids=named)
def test_a_message_has_these_bytes(case: dict[str, Any]) -> None:
    data = bytes.fromhex(case["bytes"])
    message = protocol.decode(getattr(protocol, case["type"]), data)
    assert protocol.encode(message) == data
    assert msgspec.msgpack.decode(data).keys() <= {*message.__struct_fields__}


def test_a_batch_is_signed_like_this() -> None:
    batch = REQUESTS["batch"]
    key("server_public").verify(bytes.fromhex(batch["signature"]), bytes.fromhex(batch["message"]))
