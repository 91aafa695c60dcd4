"""A generator of clients for APIs, in an environment of its own that is kept from run to run."""

from __future__ import annotations

import fcntl
import hashlib
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[2]
REQUIREMENTS: Final = ROOT / "requirements" / "client.txt"
CACHE: Final = ROOT / ".cache" / "client-generator"
PATIENCE_S: Final = 280

__all__ = ["client_generator"]


@dataclass(frozen=True)
class ClientGenerator:
    """What is installed there; its Python runs the clients that it makes."""

    python: Path

    def generate(self, description: Path, package: Path) -> str:
        """Make a client from a description of an API; what the generator says of it."""
        config = package.with_suffix(".yml")
        config.write_text(f"post_hooks: []\npackage_name_override: {package.name}\n")
        options = ["--meta", "none", "--config", str(config), "--output-path", str(package), "--fail-on-warning"]
        program = self.python.with_name("openapi-python-client")
        return _run([str(program), "generate", "--path", str(description), *options])


def _run(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command[:3])} … failed:\n{(done.stdout + done.stderr)[-2000:]}")
    return done.stdout + done.stderr


def _installed() -> Path:
    """The environment, made at the first time and whenever the pinned versions or this Python have changed."""
    content = REQUIREMENTS.read_bytes() + sys.version.encode()
    environment = CACHE / hashlib.sha256(content).hexdigest()[:16]
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # of several test processes one installs
        if not (environment / "complete").exists():
            for old in CACHE.glob("*/"):
                shutil.rmtree(old)
            _run([sys.executable, "-m", "venv", str(environment)])
            install = ["-m", "pip", "install", "--quiet", "--require-hashes", "-r", str(REQUIREMENTS)]
            _run([str(environment / "bin" / "python"), *install])
            (environment / "complete").touch()
    return environment / "bin" / "python"


@pytest.fixture(scope="session")
def client_generator() -> ClientGenerator:
    """The generator; the test is skipped where it can neither be found nor installed."""
    try:
        return ClientGenerator(_installed())
    except (RuntimeError, subprocess.TimeoutExpired, OSError) as problem:
        reason = str(problem).strip().splitlines()[-1]
        pytest.skip(f"openapi-python-client cannot be installed here, perhaps there is no network: {reason}")
