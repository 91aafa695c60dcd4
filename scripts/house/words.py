"""What scripts/run says, and how: plain lines on a pipe, colour on a terminal."""

from __future__ import annotations

from rich.console import Console

console = Console(highlight=False, soft_wrap=True)


def doing(what: str) -> None:
    """Something begins that may take a moment."""
    console.print(f"[dim]…[/dim] {what}")


def done(what: str, seconds: float) -> None:
    """A step went well."""
    console.print(f"[green]✓[/green] {what} [dim]({seconds:.1f} s)[/dim]")


def went_wrong(what: str) -> None:
    """A step, or the whole, did not."""
    console.print("[red]✕[/red]", end=" ")
    console.print(what, markup=False)
