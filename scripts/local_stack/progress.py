"""Prints the progress of scripts/run: plain lines to a pipe, colour on a terminal."""

from __future__ import annotations

from rich.console import Console

console = Console(highlight=False, soft_wrap=True)


def show_step(text: str) -> None:
    """A step starts that may take a moment."""
    console.print(f"[dim]…[/dim] {text}")


def show_done(text: str, seconds: float) -> None:
    """A step succeeded."""
    console.print(f"[green]✓[/green] {text} [dim]({seconds:.1f} s)[/dim]")


def show_failure(text: str) -> None:
    """A step, or the whole run, failed."""
    console.print("[red]✕[/red]", end=" ")
    console.print(text, markup=False)
