"""A generator of clients for APIs, in an environment of its own that is kept from run to run."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from tests.services.own_environment import environment_of, run

ROOT: Final = Path(__file__).parents[2]
FILES: Final = ("application/pdf", "application/zip", "application/x-ndjson", "image/webp", "image/jpeg")
"""Types that its users take as they come, but the generator does not know."""
REQUIREMENTS: Final = ROOT / "requirements" / "client.txt"

__all__ = ["client_generator"]


@dataclass(frozen=True)
class ClientGenerator:
    """What is installed there; its Python runs the clients that it makes."""

    python: Path

    def generate(self, description: Path, package: Path) -> str:
        """Make a client from a description of an API; what the generator says of it."""
        config = package.with_suffix(".yml")
        files = [f"  {kind}: application/octet-stream\n" for kind in FILES]
        named = f"post_hooks: []\npackage_name_override: {package.name}\n"
        config.write_text(named + "content_type_overrides:\n" + "".join(files))
        options = ["--meta", "none", "--config", str(config), "--output-path", str(package), "--fail-on-warning"]
        program = self.python.with_name("openapi-python-client")
        return run([str(program), "generate", "--path", str(description), *options])


@pytest.fixture(scope="session")
def client_generator() -> ClientGenerator:
    """The generator; the test is skipped where it can neither be found nor installed."""
    try:
        return ClientGenerator(environment_of(REQUIREMENTS))
    except (RuntimeError, subprocess.TimeoutExpired, OSError) as problem:
        reason = str(problem).strip().splitlines()[-1]
        pytest.skip(f"openapi-python-client cannot be installed here, perhaps there is no network: {reason}")
