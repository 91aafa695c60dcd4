"""Reads the arguments of a script: a mistake is one line that names it, with exit status 2."""

from __future__ import annotations

import argparse
from typing import NoReturn


class Arguments(argparse.ArgumentParser):
    """A parser that does not print its usage before every mistake."""

    def error(self, message: str) -> NoReturn:
        """One line, and where to read more."""
        self.exit(2, f"{self.prog}: {message}; see {self.prog} --help\n")
