"""The commands `gatehouse-gate doctor` and `gatehouse-gate updates-allowed`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gate_app.app import home_at, this_host
from gate_app.command_line.options import HomeOption
from gate_app.command_line.printing import print_json, print_message


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Only JSON lines, no messages.")] = False,
    pull_the_plug: Annotated[
        bool, typer.Option("--pull-the-plug", help="Prove the memory card: write, until you cut the power; then check.")
    ] = False,
    seen: Annotated[
        int, typer.Option(metavar="NUMBER", min=0, help="With --pull-the-plug: the last number before the cut.")
    ] = 0,
    home: HomeOption = None,
) -> None:
    """Check this machine, its devices, clock, disk, journal and network, and say what to do."""
    if seen and not pull_the_plug:
        raise typer.BadParameter("--seen is for --pull-the-plug")
    if pull_the_plug:
        _pull_the_plug(home, seen)
        return
    from gate_app.doctor.examination import findings

    sound = True
    for finding in findings(home_at(home), this_host()):
        sound = sound and finding.ok
        code = {"code": finding.code} if finding.code else {}
        print_json({"part": finding.part, "ok": finding.ok, "words": finding.message} | code)
        if not as_json:
            print_message(f"{'ok  ' if finding.ok else 'FAIL'}  {finding.part}: {finding.message}")
    raise typer.Exit(0 if sound else 1)


def _pull_the_plug(home: Path | None, seen: int) -> None:
    from gate_app.doctor.plug_trial import PlugTrial

    trial = PlugTrial(home_at(home).require_gate().folder)
    if not trial.begun:
        print_message(
            "Cut the power at any moment, as a guest would who trips over the cable. Remember the last number; then"
            " start the machine and run: gatehouse-gate doctor --pull-the-plug --seen NUMBER"
        )
        for number in trial.write():
            print_json({"stored": number})
        trial.forget()
        print_message("Nobody cut the power. Nothing is proven; start again.")
        raise typer.Exit(1)
    kept = trial.kept()
    good = kept.holds(seen)
    print_json({"kept": kept.last, "seen": seen, "ok": good})
    trial.forget()
    if good:
        print_message(f"Nothing is lost: {kept.last} records are here, {seen} were seen. Repeat it ten times.")
        return
    print_message(
        f"This card loses what it said was stored: {kept.last} records are here, {seen} were seen. Replace it; a gate"
        " on it forgets who came in."
    )
    raise typer.Exit(1)


def updates_allowed(home: HomeOption = None) -> None:
    """Say whether this machine's system may be updated now: not while an event is near. Status 1 means no."""
    from gate_app.updates import reason_to_wait

    reason = reason_to_wait(home_at(home), this_host())
    print_message(reason or "No event is near: the system may be updated.")
    raise typer.Exit(1 if reason else 0)
