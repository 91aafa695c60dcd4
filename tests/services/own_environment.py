"""Programs that tests run in environments of their own, which are kept from run to run."""

from __future__ import annotations

import fcntl
import hashlib
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

CACHE: Final = Path(__file__).parents[2] / ".cache" / "environments"
PATIENCE_S: Final = 280


def run(command: list[str]) -> str:
    """What a command prints; RuntimeError with its last words if it fails."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command[:3])} … failed:\n{(done.stdout + done.stderr)[-2000:]}")
    return done.stdout + done.stderr


def environment_of(requirements: Path) -> Path:
    """Its Python; the environment is made at the first time and whenever the pinned versions or this Python change."""
    content = requirements.read_bytes() + sys.version.encode()
    cache = CACHE / requirements.stem
    environment = cache / hashlib.sha256(content).hexdigest()[:16]
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # of several test processes one installs
        if not (environment / "complete").exists():
            for old in cache.glob("*/"):
                shutil.rmtree(old)
            run([sys.executable, "-m", "venv", str(environment)])
            install = ["-m", "pip", "install", "--quiet", "--require-hashes", "-r", str(requirements)]
            run([str(environment / "bin" / "python"), *install])
            (environment / "complete").touch()
    return environment / "bin" / "python"
