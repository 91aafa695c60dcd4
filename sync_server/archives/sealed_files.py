"""Writes and verifies sealed files: a ZIP of parts in JSON lines, and a signed manifest with the digest of each part.

The format is described in docs/archives.md. It holds everything that a reader needs, and any ZIP program opens it.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import msgspec
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from shared.clock import Millis
from shared.errors import NotFound, StorageError, Unreadable, Untrusted

FORMAT: Final = "gatehouse-sealed-file/1"
MANIFEST: Final = "manifest.json"
SIGNATURE: Final = "signature.json"
_SIGNED: Final = b"gatehouse:sealed-file:1\x00"
_MANIFEST_BYTES: Final = 16 * 1024 * 1024
_BLOCK: Final = 1024 * 1024
_DAMAGED: Final = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    RuntimeError,
    LookupError,
    OverflowError,
    ValueError,
)
"""What the library raises for bytes that are no ZIP, or no longer one."""


class Part(msgspec.Struct, frozen=True):
    """One part: its columns in order, how many lines it has, and their digest."""

    name: str
    columns: list[str]
    rows: int
    bytes: int
    sha256: str
    leaves: bool = True


class Manifest(msgspec.Struct, frozen=True):
    """What a sealed file says of itself; `about` depends on the kind of file."""

    format: str
    kind: str
    organisation: dict[str, Any]
    made_at: int
    about: dict[str, Any]
    parts: list[Part]

    def part(self, name: str) -> Part | None:
        """The part of this name, if there is one."""
        return next((part for part in self.parts if part.name == name), None)


class _Signature(msgspec.Struct):
    public_key: str
    signature: str


@dataclass(frozen=True, slots=True)
class Verified:
    """A file that was read from the first byte to the last, and is what its maker has signed."""

    manifest: Manifest
    public_key: bytes


class SealedFileWriter:
    """Writes one file under a name of its own; `seal` gives it its final name, once it is on disk."""

    def __init__(self, file: Path, now: Millis) -> None:
        """`file` is the final name; it must not exist."""
        self._file, self._unfinished = file, file.with_name(f"{file.name}.unfinished")
        self._at = datetime.fromtimestamp(now / 1000, UTC).timetuple()[:6]
        self._parts: list[Part] = []
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._stream = os.fdopen(os.open(self._unfinished, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600), "w+b")
        self._zip = zipfile.ZipFile(self._stream, "w", zipfile.ZIP_DEFLATED, allowZip64=True)

    def add(self, name: str, columns: Sequence[str], lines: Iterable[bytes], *, leaves: bool = True) -> Part:
        """Add a part; each line is one JSON value without a line break."""
        digest, rows, size = hashlib.sha256(), 0, 0
        with self._zip.open(self._entry(_member(name)), "w", force_zip64=True) as member:
            for line in lines:
                whole = line + b"\n"
                member.write(whole)
                digest.update(whole)
                rows, size = rows + 1, size + len(whole)
        part = Part(name, list(columns), rows, size, digest.hexdigest(), leaves)
        self._parts.append(part)
        return part

    def seal(
        self,
        kind: str,
        organisation: Mapping[str, Any],
        about: Mapping[str, Any],
        *,
        made_at: Millis,
        key: Ed25519PrivateKey,
    ) -> Manifest:
        """Sign the manifest, write everything to disk, and give the file its name."""
        manifest = Manifest(FORMAT, kind, dict(organisation), made_at, dict(about), self._parts)
        content = json.dumps(msgspec.to_builtins(manifest), indent=1, sort_keys=True).encode()
        public = key.public_key().public_bytes_raw()
        signature = {"public_key": public.hex(), "signature": key.sign(_SIGNED + content).hex()}
        self._zip.writestr(self._entry(MANIFEST), content)
        self._zip.writestr(self._entry(SIGNATURE), json.dumps(signature).encode())
        self._zip.close()
        self._stream.flush()
        os.fsync(self._stream.fileno())
        self._stream.close()
        self._unfinished.rename(self._file)
        _sync_folder(self._file.parent)
        return manifest

    def discard(self) -> None:
        """Remove what was written so far; does nothing after `seal`."""
        with suppress(ValueError, OSError):  # a part was interrupted
            self._zip.close()
        self._stream.close()
        self._unfinished.unlink(missing_ok=True)

    def _entry(self, name: str) -> zipfile.ZipInfo:
        entry = zipfile.ZipInfo(name, self._at)
        entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o600 << 16
        return entry


def _member(name: str) -> str:
    return f"{name}.jsonl"


def _sync_folder(folder: Path) -> None:
    """Make the name of a new file survive a power cut."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def opened(file: Path) -> Iterator[zipfile.ZipFile]:
    """The file for `lines`; NotFound where it cannot be read, Unreadable where it is no sealed file or is damaged."""
    try:
        with zipfile.ZipFile(file) as archive:
            yield archive
    except _DAMAGED as problem:
        raise _damaged(file, str(problem)) from None
    except FileNotFoundError:
        raise NotFound(f"There is no file {file}.", code="archive_file_missing") from None
    except OSError as problem:
        if problem.errno == errno.EINVAL:  # it leads to a place before its own beginning
            raise _damaged(file, "a part is not where it should be") from None
        raise StorageError(f"{file} cannot be read: {problem.strerror}.") from None


def read_manifest(file: Path, public: bytes | None = None) -> Verified:
    """The signed manifest; Untrusted unless `public`, or else the key in the file, has signed it."""
    with opened(file) as archive:
        for name in (MANIFEST, SIGNATURE):
            if archive.getinfo(name).file_size > _MANIFEST_BYTES:
                raise _damaged(file, f"{name} is too large")
        content, signed = archive.read(MANIFEST), archive.read(SIGNATURE)
    try:
        signature = msgspec.json.decode(signed, type=_Signature)
        key = bytes.fromhex(signature.public_key)
        Ed25519PublicKey.from_public_bytes(public or key).verify(bytes.fromhex(signature.signature), _SIGNED + content)
        manifest = msgspec.json.decode(content, type=Manifest)
    except (msgspec.DecodeError, ValueError) as problem:
        raise _damaged(file, str(problem)) from None
    except InvalidSignature:
        raise Untrusted(f"{file} is not signed with this key: it was altered, or another server made it.") from None
    if manifest.format != FORMAT:
        raise Unreadable(f"{file} has the format {manifest.format!r}, which this version does not know.")
    return Verified(manifest, public or key)


def verify(file: Path, public: bytes | None = None) -> Verified:
    """Read every byte; Unreadable or Untrusted for a file that is not exactly what was sealed."""
    found = read_manifest(file, public)
    parts = found.manifest.parts
    with opened(file) as archive:
        if sorted(archive.namelist()) != sorted([MANIFEST, SIGNATURE, *(_member(part.name) for part in parts)]):
            raise _damaged(file, "its parts are not those that its manifest lists")
        for part in parts:
            for _ in lines(archive, part):
                pass
    return found


def lines(archive: zipfile.ZipFile, part: Part) -> Iterator[bytes]:
    """The lines of a part; raises Unreadable at its end unless they are the ones that were sealed."""
    digest, rows, size = hashlib.sha256(), 0, 0
    with archive.open(_member(part.name)) as member:
        for line in member:
            digest.update(line)
            rows, size = rows + 1, size + len(line)
            if size > part.bytes:
                break
            yield line
    if (rows, size, digest.hexdigest()) != (part.rows, part.bytes, part.sha256):
        raise Unreadable(f"The part {part.name} of the file is not what was sealed: it is damaged or was altered.")


def digest_of(file: Path) -> bytes:
    """SHA-256 of the whole file, read from the disk and not from memory, as far as the system allows."""
    digest = hashlib.sha256()
    with file.open("rb") as stream:
        if hasattr(os, "posix_fadvise"):
            os.posix_fadvise(stream.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        while block := stream.read(_BLOCK):
            digest.update(block)
    return digest.digest()


def _damaged(file: Path, problem: str) -> Unreadable:
    return Unreadable(f"{file} is not a sealed file, or is damaged: {problem.rstrip('.')}.")
