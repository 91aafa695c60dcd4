"""The gate's own encryption: a certificate that it makes itself, and a way to its pages that nobody can stop up."""

from __future__ import annotations

import http.client
import socket
import ssl
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path

import pytest
from cryptography import x509
from flask import Flask, request

from gate_app.screen import secure_server
from gate_app.screen.certificate import LASTS, ensure_certificate, server_context
from gate_app.screen.secure_server import SecureServer
from shared.errors import SettingsError, StorageError

NOW = datetime(2026, 11, 20, 20, tzinfo=UTC)
NAMES = {"localhost", "127.0.0.1", "gate-3.local", "192.0.2.7"}


class TestCertificate:
    def test_it_names_the_machine_and_only_its_owner_reads_the_key(self, tmp_path: Path) -> None:
        file = tmp_path / "screen.pem"
        shown = ensure_certificate(file, NAMES, NOW)
        made = x509.load_pem_x509_certificate(file.read_bytes())
        said = made.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        assert {*said.get_values_for_type(x509.DNSName)} == {"localhost", "gate-3.local"}
        assert {*map(str, said.get_values_for_type(x509.IPAddress))} == {"127.0.0.1", "192.0.2.7"}
        assert file.stat().st_mode & 0o077 == 0
        der = ssl.PEM_cert_to_DER_cert(file.read_text().partition("-----BEGIN PRIVATE")[0])
        assert shown.replace(":", "").lower() == sha256(der).hexdigest()

    def test_it_stays_the_same_so_that_a_telephone_warns_once(self, tmp_path: Path) -> None:
        file = tmp_path / "screen.pem"
        first = ensure_certificate(file, NAMES, NOW)
        assert ensure_certificate(file, NAMES - {"192.0.2.7"}, NOW + timedelta(days=300)) == first

    @pytest.mark.parametrize(
        ("names", "now"),
        [
            (NAMES | {"192.0.2.8"}, NOW),
            (NAMES, NOW + LASTS),
            (NAMES, NOW - timedelta(days=400)),
        ],
        ids=["another address", "too old", "made by a wrong clock"],
    )
    def test_another_is_made_when_browsers_would_refuse_it(
        self, tmp_path: Path, names: set[str], now: datetime
    ) -> None:
        file = tmp_path / "screen.pem"
        first = ensure_certificate(file, NAMES, NOW)
        assert ensure_certificate(file, names, now) != first

    def test_a_damaged_file_is_replaced_and_a_folder_that_cannot_be_written_is_said(self, tmp_path: Path) -> None:
        file = tmp_path / "screen.pem"
        file.write_text("half a certif")
        assert ensure_certificate(file, NAMES, NOW)
        with pytest.raises(StorageError, match="cannot be written"):
            ensure_certificate(tmp_path / "missing" / "screen.pem", NAMES, NOW)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[SecureServer]:
    app = Flask("trial")

    @app.post("/echo")
    def echo() -> str:
        return f"{request.scheme} {request.remote_addr or 'nowhere'} {len(request.get_data())}"

    ensure_certificate(tmp_path / "screen.pem", NAMES, datetime.now(UTC))
    opened = SecureServer("127.0.0.1", 0, server_context(tmp_path / "screen.pem"), app).open()
    yield opened
    opened.close()


def connected(server: SecureServer, tmp_path: Path) -> http.client.HTTPSConnection:
    trusted = ssl.create_default_context(cafile=str(tmp_path / "screen.pem"))
    return http.client.HTTPSConnection("127.0.0.1", server.port, timeout=20, context=trusted)


def echoed(connection: http.client.HTTPSConnection, body: bytes) -> str:
    connection.request("POST", "/echo", body)
    return connection.getresponse().read().decode()


class TestServer:
    def test_a_browser_that_trusts_it_is_served_on_one_connection(self, server: SecureServer, tmp_path: Path) -> None:
        connection = connected(server, tmp_path)
        assert [echoed(connection, b"x" * size) for size in (0, 1, 500_000)] == [
            f"https nowhere {size}" for size in (0, 1, 500_000)
        ]
        connection.close()

    def test_what_is_passed_on_never_passes_for_this_machine(self, server: SecureServer, tmp_path: Path) -> None:
        """Whoever sits at the gate itself may do more than its network."""
        assert "127.0.0.1" not in echoed(connected(server, tmp_path), b"")

    def test_a_body_that_is_too_large_is_refused(self, server: SecureServer, tmp_path: Path) -> None:
        connection = connected(server, tmp_path)
        connection.putrequest("POST", "/echo")
        connection.putheader("Content-Length", "900000000")
        connection.endheaders(b"x")
        assert connection.getresponse().status == 413

    def test_those_who_never_say_anything_stop_up_nobody(self, server: SecureServer, tmp_path: Path) -> None:
        silent = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(secure_server.MOST_CONNECTIONS)]
        assert echoed(connected(server, tmp_path), b"abc") == "https nowhere 3", "after their deadline"
        for one in silent:
            one.close()

    def test_who_does_not_encrypt_is_not_served(self, server: SecureServer) -> None:
        plain = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
        with pytest.raises((http.client.HTTPException, OSError)):
            plain.request("POST", "/echo", b"")
            plain.getresponse()

    def test_a_port_in_use_is_said_with_the_setting(self, server: SecureServer, tmp_path: Path) -> None:
        tls = server_context(tmp_path / "screen.pem")
        with pytest.raises(SettingsError, match="screen_secure_port"):
            SecureServer("127.0.0.1", server.port, tls, Flask("other")).open()

    def test_it_closes_with_connections_open(self, server: SecureServer, tmp_path: Path) -> None:
        connection = connected(server, tmp_path)
        assert echoed(connection, b"")
        server.close()
        server.close()
        with pytest.raises(OSError, match=r".*"):
            connected(server, tmp_path).connect()
