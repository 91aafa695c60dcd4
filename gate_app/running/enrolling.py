"""Enrols a gate that runs without being enrolled: by the code that is shown to its reader, or by the command line."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, closing

from gate_app import reading_home
from gate_app.app import http_transport
from gate_app.command_line.commands import enrolled_line
from gate_app.enrolment import Enrolled
from gate_app.enrolment import enrol as enrol_at
from gate_app.gate_context import GateContext
from gate_app.installation.config import Config
from gate_app.screen.feed import Feed
from gate_app.supervision.fields import Answer
from gate_app.sync.client import Transport
from gate_app.words import say
from shared.errors import Conflict, GatehouseError
from shared.wire.enrolment import is_offer, offered


class Enrolling:
    """Waits for an enrolment code as long as this gate belongs to nobody."""

    def __init__(
        self,
        context: GateContext,
        feed: Feed,
        finished: Callable[[str], None],
        connect: Callable[[Config], AbstractContextManager[Transport]] = lambda config: closing(http_transport(config)),
    ) -> None:
        """`finished` is called once with what the screen says then; everything must be opened again."""
        self._context = context
        self._feed = feed
        self._finished = finished
        self._connect = connect
        self._one_at_a_time = threading.Lock()

    @property
    def waits(self) -> bool:
        """Whether this gate is not enrolled, or no longer."""
        return self._context.identity is None or self._context.sync_state.revoked

    def takes(self, text: str) -> bool:
        """Whether what a reader read was an enrolment code; at a gate that waits for one it is tried.

        At another it is no guest's attempt to come in: the code that has just enrolled this gate may still be held up.
        """
        if not is_offer(text):
            return False
        with self._one_at_a_time:
            if self.waits:
                self._try(text)
            else:
                self._feed.tell(say("enrolling.already"))
        return True

    def typed(self, url: str, code: str, name: str) -> Answer:
        """Enrols with what was typed into a command. Raises Conflict at a gate that is enrolled already."""
        with self._one_at_a_time:
            if not self.waits:
                raise Conflict(say("enrolling.already"), code="enrolled_already")
            return enrolled_line(self._enrol(url, code, name))

    def _try(self, text: str) -> None:
        try:
            offer = offered(text)
            if not offer.address:
                self._feed.note(say("enrolling.no_address"))
                return
            self._feed.note(say("enrolling.asking", server=offer.address))
            self._enrol(offer.address, offer.code.text, "")
        except GatehouseError as why:
            self._feed.note(why.message)

    def _enrol(self, url: str, code: str, name: str) -> Enrolled:
        context = self._context
        with self._connect(context.config) as transport:
            got = enrol_at(url, code, transport, context.host.entropy, name=name, software=context.host.software)
        reading_home.take_identity(context, got)
        self._finished(say("enrolling.done", organisation=got.identity.organisation_name, check=got.check))
        return got
