"""A sealed secret opens only with its purpose, its key, and unaltered."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from shared.errors import SettingsError, StorageError
from sync_server.plumbing.sealing import Sealer, load_or_make, make

SEALER = Sealer(b"k" * 32, os.urandom)


def test_what_is_sealed_opens_again_and_looks_different_each_time() -> None:
    sealed = SEALER.seal(b"secret", "ticket-key:1")
    assert SEALER.open(sealed, "ticket-key:1") == b"secret"
    assert b"secret" not in sealed and sealed != SEALER.seal(b"secret", "ticket-key:1")


@pytest.mark.parametrize("position", [0, 11, 12, -1])
def test_altered_by_one_bit(position: int) -> None:
    sealed = bytearray(SEALER.seal(b"secret", "p"))
    sealed[position] ^= 1
    with pytest.raises(StorageError):
        SEALER.open(bytes(sealed), "p")


@pytest.mark.parametrize(("sealer", "purpose"), [(SEALER, "other"), (Sealer(b"x" * 32, os.urandom), "p")])
def test_another_purpose_or_another_key(sealer: Sealer, purpose: str) -> None:
    with pytest.raises(StorageError, match="master key"):
        sealer.open(SEALER.seal(b"secret", "p"), purpose)


def test_a_keyed_hash_depends_on_text_purpose_and_key() -> None:
    keyed_hash = SEALER.keyed_hash("ada@example.org", "lists of one venue")
    assert keyed_hash == Sealer(b"k" * 32, os.urandom).keyed_hash("ada@example.org", "lists of one venue")
    others = [
        SEALER.keyed_hash("eda@example.org", "lists of one venue"),
        SEALER.keyed_hash("ada@example.org", "lists of another"),
        Sealer(b"x" * 32, os.urandom).keyed_hash("ada@example.org", "lists of one venue"),
    ]
    assert keyed_hash not in others and len(keyed_hash) == 64


def test_a_truncated_secret() -> None:
    for length in (0, 5, 12, 20):
        with pytest.raises(StorageError):
            SEALER.open(SEALER.seal(b"secret", "p")[:length], "p")


def test_the_key_file_is_created_once_and_only_its_owner_can_read_it(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "master.key"
    key = load_or_make(path, os.urandom, may_make=True)
    assert path.stat().st_mode & 0o777 == 0o600
    assert load_or_make(path, os.urandom, may_make=True) == key == make(path, os.urandom)


def test_no_key_is_created_where_that_is_not_allowed(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="key master"):
        load_or_make(tmp_path / "master.key", os.urandom, may_make=False)


@pytest.mark.parametrize("content", ["", "zz" * 32, "11" * 31])
def test_a_file_without_a_valid_key(tmp_path: Path, content: str) -> None:
    path = tmp_path / "master.key"
    path.write_text(content)
    with pytest.raises(SettingsError, match="64 hexadecimal"):
        load_or_make(path, os.urandom, may_make=True)
