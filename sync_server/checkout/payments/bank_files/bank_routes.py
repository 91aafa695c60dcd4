"""/api/bank-files: a statement is shown with its orders first, and sent again with what is confirmed."""

from __future__ import annotations

from apiflask import APIBlueprint

from shared.errors import InvalidRequest
from sync_server.checkout.payments.bank_files import matching, schemas
from sync_server.plumbing.parts import parts
from sync_server.plumbing.requests.principals import Action
from sync_server.plumbing.web import context, organisation, requires

bp = APIBlueprint("bank_files", __name__, url_prefix="/api/bank-files", tag="Payments")


@bp.post("/preview")
@requires(Action.CHANGE_ORDERS)
@bp.input(schemas.BankFile)
@bp.output(schemas.BankFileView)
def preview(json_data: schemas.BankFile) -> schemas.BankFileView:
    """Show which orders the credits of a statement pay; nothing is noted, and nothing of the file stored."""
    entries = json_data.entries()
    with parts().database.reading() as session:
        return schemas.view_of(matching.preview(session, organisation(), entries))


@bp.post("")
@requires(Action.CHANGE_ORDERS)
@bp.input(schemas.ConfirmBankFile)
@bp.output(schemas.BankFileView)
def note(json_data: schemas.ConfirmBankFile) -> schemas.BankFileView:
    """Note the confirmed credits of a statement. Each counts once, however often and in whatever file it is sent."""
    wanted = {each.reference: each.order_id for each in json_data.entries_to_note}
    entries = [entry for entry in json_data.entries() if entry.reference in wanted]
    if missing := sorted(wanted.keys() - {entry.reference for entry in entries}):
        raise InvalidRequest(
            f"entries_to_note: the file has no entry {missing[0]}.", field="entries_to_note", code="unknown_entry"
        )
    chosen = {reference: order_id for reference, order_id in wanted.items() if order_id is not None}
    with parts().database.reading() as session:
        matches = matching.preview(session, organisation(), entries, chosen)
    return schemas.view_of(matching.note(parts().database, parts().sealer, organisation(), matches, context()))
