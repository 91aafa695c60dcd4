"""Pushes the journal to the server: in order from the server's mark, until nothing is missing."""

from __future__ import annotations

from gate_app.clock.time_keeper import TimeKeeper
from gate_app.installation.identity import Identity
from gate_app.journal import forks
from gate_app.journal.gaps import outgoing
from gate_app.journal.journal import Journal
from gate_app.journal.reading import Branch
from gate_app.sync.client import Client, naming
from gate_app.sync.exchange import journal_answer, journal_call
from gate_app.sync.pull import SyncState
from shared.journal.scans import sign_head
from shared.wire.protocol import MAX_ENTRIES, JournalAnswer, JournalRequest

MOST_BYTES = 4_000_000


class Pusher:
    """Pushes the journal, one batch at a time."""

    def __init__(
        self, client: Client, identity: Identity, journal: Journal, time_keeper: TimeKeeper, sync_state: SyncState
    ) -> None:
        self._client = client
        self._key = identity.key()
        self._journal = journal
        self._time = time_keeper
        self._sync_state = sync_state

    def run_once(self) -> bool:
        """Sends the next batch; False if there was nothing to send. Raises what the client raises, and Refused."""
        # A branch whose mark does not move must not hold up the later ones.
        return any(self._send(branch) for branch in self._journal.unsent_branches())

    def _send(self, branch: Branch) -> bool:
        """Sends one batch; False if the branch still has unsent entries."""
        with self._sync_state.greeting:
            bodies = _within(outgoing(self._journal, branch, self._time, MAX_ENTRIES))
            call = journal_call(self._request(branch, bodies))
        answer = self._client.send(call)
        with naming(answer.trace_id):
            taken = journal_answer(answer.status, answer.body)
        self._process(branch, len(bodies), taken)
        self._sync_state.online = True
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

    def _process(self, branch: Branch, sent: int, answer: JournalAnswer) -> None:
        refused = [(seq, why) for seq, status, why in answer.answers if status == "quarantined"]
        self._journal.quarantine(branch, refused)
        if self._journal.agrees(branch, answer.mark.seq, answer.mark.head):
            self._journal.acknowledge(branch, answer.mark.seq, answer.mark.head)
            if answer.forked and branch.local == self._journal.branch.local:
                forks.note_twin(self._journal)
        else:
            self._forked(branch, answer)
        self._sync_state.pushed += sent

    def _forked(self, branch: Branch, answer: JournalAnswer) -> None:
        """The server's mark belongs to another machine's entries; acknowledges those of ours that it answered."""
        answered = [seq for seq, _, _ in answer.answers]
        self._journal.acknowledge(branch, max(answered, default=branch.acknowledged))
        if branch.local == self._journal.branch.local:
            self._sync_state.message = forks.leave(self._journal, self._time.now(), self._time.boot)


def _within(bodies: list[bytes]) -> list[bytes]:
    """As many entries as fit in one request."""
    batch: list[bytes] = []
    size = 0
    for body in bodies:
        size += len(body)
        if batch and size > MOST_BYTES:
            break
        batch.append(body)
    return batch
