"""The certificate with which the gate encrypts its pages: it makes it itself, so browsers warn of it once."""

from __future__ import annotations

import ssl
from collections.abc import Collection
from datetime import datetime, timedelta
from hashlib import sha256
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import ExtendedKeyUsageOID

from gate_app.installation.identity import replace_whole
from gate_app.screen.hosts import is_address

LASTS = timedelta(days=397)
"""As long as browsers accept at most."""
RENEWED_BEFORE = timedelta(days=2)
_EARLIER = timedelta(days=1)


def ensure_certificate(file: Path, names: Collection[str], now: datetime) -> str:
    """Keeps the certificate of the file if it is good for these names and addresses, or makes another.

    Returns its fingerprint, as browsers show it. Raises StorageError.
    """
    kept = _kept(file)
    if kept is None or not _serves(kept, names, now):
        kept = _made(file, names, now)
    return fingerprint(kept.public_bytes(Encoding.DER))


def fingerprint(certificate: bytes) -> str:
    """SHA-256 in pairs of digits."""
    return sha256(certificate).digest().hex(":").upper()


def server_context(file: Path) -> ssl.SSLContext:
    """How connections are encrypted with it."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.load_cert_chain(file)
    return context


def _kept(file: Path) -> x509.Certificate | None:
    try:
        return x509.load_pem_x509_certificate(file.read_bytes())
    except (OSError, ValueError):
        return None


def _serves(certificate: x509.Certificate, names: Collection[str], now: datetime) -> bool:
    if not certificate.not_valid_before_utc <= now <= certificate.not_valid_after_utc - RENEWED_BEFORE:
        return False
    said = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    known = {*said.get_values_for_type(x509.DNSName), *map(str, said.get_values_for_type(x509.IPAddress))}
    return set(names) <= known


def _made(file: Path, names: Collection[str], now: datetime) -> x509.Certificate:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "Gatehouse gate")])
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _EARLIER)
        .not_valid_after(now + LASTS - _EARLIER)
        .add_extension(x509.SubjectAlternativeName([_named(name) for name in sorted(names)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .sign(key, SHA256())
    )
    secret = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    replace_whole(file, made.public_bytes(Encoding.PEM) + secret)
    return made


def _named(name: str) -> x509.GeneralName:
    if not is_address(name):
        return x509.DNSName(name)
    address: IPv4Address | IPv6Address = ip_address(name)
    return x509.IPAddress(address)
