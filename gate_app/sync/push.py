"""Brings the journal up: from the server's mark, in order, until the mark says that nothing is lacking."""

from __future__ import annotations

from gate_app.gaps import outgoing
from gate_app.identity import Identity
from gate_app.journal import Journal
from gate_app.journal_reading import Branch
from gate_app.sync.client import Client
from gate_app.sync.exchange import journal_answer, journal_call
from gate_app.sync.pull import Standing
from gate_app.time_keeper import TimeKeeper
from shared.protocol import MAX_ENTRIES, JournalAnswer, JournalRequest
from shared.scans import sign_head

MOST_BYTES = 4_000_000


class Pusher:
    """Runs the upward conversation one batch at a time."""

    def __init__(
        self, client: Client, identity: Identity, journal: Journal, time_keeper: TimeKeeper, standing: Standing
    ) -> None:
        """Nothing is sent yet."""
        self._client = client
        self._key = identity.key()
        self._journal = journal
        self._time = time_keeper
        self._standing = standing

    def run_once(self) -> bool:
        """Sends what is next; False when the server lacks nothing. Raises what the client raises, and Refused."""
        # A branch whose mark does not move must not keep the younger ones waiting.
        return any(self._send(branch) for branch in self._journal.unsent_branches())

    def _send(self, branch: Branch) -> bool:
        """One batch; False when the server's mark did not move for it."""
        bodies = _within(outgoing(self._journal, branch, self._time, MAX_ENTRIES))
        answer = self._client.send(journal_call(self._request(branch, bodies)))
        self._took(branch, len(bodies), journal_answer(answer.status, answer.body))
        self._standing.online = True
        return branch not in self._journal.unsent_branches()

    def _request(self, branch: Branch, bodies: list[bytes]) -> JournalRequest:
        head = self._journal.head_of(branch)
        return JournalRequest(
            branch=branch.number,
            entries=bodies,
            head_seq=head.seq,
            head=head.hash,
            head_signature=sign_head(self._key, branch.device, branch.number, head.seq, head.hash),
        )

    def _took(self, branch: Branch, sent: int, answer: JournalAnswer) -> None:
        refused = [(seq, why) for seq, status, why in answer.answers if status == "quarantined"]
        self._journal.quarantine(branch, refused)
        if self._journal.agrees(branch, answer.mark.seq, answer.mark.head):
            self._journal.acknowledge(branch, answer.mark.seq, answer.mark.head)
        else:
            self._forked(branch, answer)
        self._standing.pushed += sent

    def _forked(self, branch: Branch, answer: JournalAnswer) -> None:
        """The server's mark speaks of another machine's entries; of ours it says only what became of each."""
        told = [seq for seq, _, _ in answer.answers]
        self._journal.acknowledge(branch, max(told, default=branch.acknowledged))
        if branch.local == self._journal.branch.local:
            self._standing.words = self._journal.leave_fork(self._time.now(), self._time.boot)


def _within(bodies: list[bytes]) -> list[bytes]:
    """As many as one request may carry."""
    kept: list[bytes] = []
    size = 0
    for body in bodies:
        size += len(body)
        if kept and size > MOST_BYTES:
            break
        kept.append(body)
    return kept
