"""The screen of a gate that is killed, hangs or is cut off, in a real browser with real clocks and a real gate."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.gate_builders import a_code
from tests.journeys.test_gate_killed import a_gate_of_tonight
from tests.journeys.test_gate_running import wait_for_line


@pytest.fixture
def home(tmp_path: Path) -> Path:
    gate = a_gate_of_tonight(tmp_path / "home", 1)
    gate.context.close()
    return gate.folder


class RunningGate:
    """A gate process and the address of its screen."""

    def __init__(self, home: Path, port: int = 0) -> None:
        arguments = ["run", "--reader", "fake", "--screen", str(port), "--home", str(home)]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "gate_app", *arguments], stderr=subprocess.PIPE, text=True
        )
        self.address = wait_for_line(self.process, "The gate's screen").split()[-1]
        self.port = int(self.address.rstrip("/").rpartition(":")[2])

    def end(self, how: int = signal.SIGKILL) -> None:
        self.process.send_signal(how)
        self.process.wait()
        assert self.process.stderr is not None
        self.process.stderr.close()


@pytest.fixture
def gate(home: Path) -> Iterator[RunningGate]:
    running = RunningGate(home)
    yield running
    if running.process.returncode is None:
        os.kill(running.process.pid, signal.SIGCONT)
        running.end()


@pytest.fixture
def screen(browser_page: Page, gate: RunningGate) -> Page:
    browser_page.goto(gate.address)
    expect_ready(browser_page)
    return browser_page


def expect_ready(page: Page) -> None:
    expect(page.locator("h1")).to_have_text("Ready")
    expect(page.locator("#lost")).to_be_hidden()


def expect_no_contact(page: Page) -> None:
    expect(page.locator("#lost")).to_be_visible()
    expect(page.locator("h1")).to_have_text("No contact")
    expect(page.locator("#link-words")).to_have_text("No contact")
    assert page.locator("body").get_attribute("data-tone") == "lost"


@contextmanager
def accepts_and_never_answers(port: int) -> Iterator[None]:
    """Something else on the gate's port: connections are accepted by the system and nobody reads them."""
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", port))
        listener.listen(64)
        yield


def test_a_verdict_does_not_outlive_its_gate(screen: Page, gate: RunningGate, home: Path) -> None:
    with (home / "scanner").open("w") as scanner:
        scanner.write(f"{a_code(1)}\n")
    expect(screen.locator("h1")).to_have_text("COME IN")
    gate.end()
    expect_no_contact(screen)
    expect(screen.locator("#seat")).to_be_hidden()


def test_three_seconds_are_what_the_page_allows_a_silent_gate(screen: Page) -> None:
    assert screen.evaluate("LOST_AFTER_MS + LOOK_EVERY_MS") < 3_000


def test_a_killed_gate_refuses_connections(screen: Page, gate: RunningGate, home: Path) -> None:
    gate.end()
    expect_no_contact(screen)
    again = RunningGate(home, gate.port)
    expect_ready(screen)
    again.end()


def test_a_gate_that_hangs_keeps_its_connection_open(screen: Page, gate: RunningGate) -> None:
    gate.process.send_signal(signal.SIGSTOP)
    expect_no_contact(screen)
    gate.process.send_signal(signal.SIGCONT)
    expect_ready(screen)


def test_connections_that_are_accepted_and_never_answered_are_given_up(
    screen: Page, gate: RunningGate, home: Path
) -> None:
    gate.end()
    with accepts_and_never_answers(gate.port):
        expect_no_contact(screen)
        # The page's own retry hangs now, and must not keep it from finding the gate that comes back.
        screen.wait_for_function("stream.readyState === EventSource.CONNECTING")
    again = RunningGate(home, gate.port)
    expect_ready(screen)
    again.end()


def test_a_frozen_page_wakes_up_without_anything_old(screen: Page, gate: RunningGate, home: Path) -> None:
    session = screen.context.new_cdp_session(screen)
    session.send("Page.setWebLifecycleState", {"state": "frozen"})
    gate.end()
    session.send("Page.setWebLifecycleState", {"state": "active"})
    expect_no_contact(screen)
    again = RunningGate(home, gate.port)
    expect_ready(screen)
    again.end()


def test_a_hidden_page_loses_contact_too(screen: Page, gate: RunningGate) -> None:
    session = screen.context.new_cdp_session(screen)
    session.send("Emulation.setFocusEmulationEnabled", {"enabled": False})
    in_front = screen.context.new_page()
    in_front.bring_to_front()
    gate.end()
    expect_no_contact(screen)


def test_a_page_whose_gate_dies_before_its_first_word_never_says_ready(browser_page: Page, gate: RunningGate) -> None:
    browser_page.route("**/stream*", lambda route: route.abort())
    browser_page.goto(gate.address)
    expect_no_contact(browser_page)


def test_a_page_whose_script_never_came_does_not_say_ready(browser_page: Page, gate: RunningGate) -> None:
    browser_page.route("**/gate.js", lambda route: route.abort())
    browser_page.goto(gate.address)
    expect(browser_page.locator("h1")).to_have_text("Connecting")
    assert browser_page.locator("body").get_attribute("data-tone") == "lost"
