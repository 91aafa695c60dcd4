"""A private nginx with the shipped file, its certificate made on the spot; nothing of an installed one is touched."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from scripts.private_services.installed import find_program
from scripts.processes.child import Child
from scripts.processes.ports import LOOPBACK, free_port, responds

SHIPPED = Path(__file__).parents[2] / "deploy" / "nginx" / "gatehouse.conf"
NAME = "tickets.example.org"
"""The name in the shipped file."""
_MAIN = """
daemon off;
pid {folder}/pid;
error_log stderr warn;
worker_processes 2;
worker_rlimit_nofile 65536;
events {{ worker_connections 32768; }}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    include {folder}/gatehouse.conf;
}}
"""


@dataclass(frozen=True, slots=True)
class Behind:
    """The ports of the server and of its streams listener."""

    server: int
    streams: int


class NginxServer:
    """Serves the public address of a Gatehouse server at a port of its own, by HTTPS."""

    def __init__(self, behind: Behind) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="gatehouse-nginx-"))
        self.port, self._http_port = free_port(), free_port()
        self.certificate = self.folder / "fullchain.pem"
        _make_certificate(self.certificate, self.folder / "privkey.pem")
        (self.folder / "gatehouse.conf").write_text(self._settings(behind))
        main = self.folder / "nginx.conf"
        main.write_text(_MAIN.format(folder=self.folder))
        # Workers of a root nginx become another user, who must reach the folder.
        self.folder.chmod(0o711)
        self._command = [find_program("nginx", "nginx", "usr/sbin"), "-p", str(self.folder), "-c", str(main)]
        self._child = Child("nginx", self._command, self.folder / "log")

    def check(self) -> str:
        """What `nginx -t` says about the file; ends with "test is successful"."""
        tried = subprocess.run([*self._command, "-t"], capture_output=True, text=True, timeout=30, check=False)
        return tried.stderr.strip()

    def start(self) -> None:
        """Start and wait until it responds."""
        self._child.start()
        self._child.wait_until(lambda: responds(self._http_port, b"GET / HTTP/1.0\r\n\r\n", b"HTTP/1.1 308"))

    def reload(self) -> None:
        """Read the files again: requests that it has begun end as they would have, new ones go the new way."""
        os.kill(self._child.pid, signal.SIGHUP)

    def remove(self) -> None:
        """Stop it and delete its files."""
        self._child.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _settings(self, behind: Behind) -> str:
        """The shipped file with other ports and paths, and nothing else changed."""
        text = re.sub(r"^ *listen \[::\].*\n", "", SHIPPED.read_text(), flags=re.M)
        for shipped, private in (
            ("127.0.0.1:8000", f"{LOOPBACK}:{behind.server}"),
            ("127.0.0.1:8001", f"{LOOPBACK}:{behind.streams}"),
            ("listen 80 ", f"listen {LOOPBACK}:{self._http_port} "),
            ("listen 443 ", f"listen {LOOPBACK}:{self.port} "),
            ("/etc/gatehouse/tls", str(self.folder)),
            ("/var/cache/nginx/gatehouse", str(self.folder / "cache")),
            ("/var/log/nginx", str(self.folder)),
        ):
            if shipped not in text:
                raise RuntimeError(f"{SHIPPED.name} no longer contains {shipped!r}")
            text = text.replace(shipped, private)
        return text


def _make_certificate(certificate: Path, key_file: Path) -> None:
    """A certificate that signs itself, for the name in the shipped file and this machine."""
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, NAME)])
    names = x509.SubjectAlternativeName([x509.DNSName(NAME), x509.IPAddress(ip_address(LOOPBACK))])
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(names, critical=False)
        .sign(key, hashes.SHA256())
    )
    certificate.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    key_file.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
