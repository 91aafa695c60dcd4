"""Statements as banks offer them: CAMT.053 in two versions, and CSV."""

from __future__ import annotations

from typing import Any

HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.{version}">'
)


def credit(cents: int, text: str, reference: str = "", *, status: str = "<Sts>BOOK</Sts>", sign: str = "CRDT") -> str:
    """One entry of a statement."""
    named = f"<AcctSvcrRef>{reference}</AcctSvcrRef>" if reference else ""
    return (
        f'<Ntry><Amt Ccy="EUR">{cents // 100}.{cents % 100:02}</Amt><CdtDbtInd>{sign}</CdtDbtInd>{status}'
        f"<BookgDt><Dt>2026-07-06</Dt></BookgDt>{named}"
        f"<NtryDtls><TxDtls><RmtInf><Ustrd>{text}</Ustrd></RmtInf></TxDtls></NtryDtls></Ntry>"
    )


def batch(reference: str, *parts: tuple[int, str, str]) -> str:
    """An entry that sums up several transfers."""
    details = "".join(
        f'<TxDtls><Refs><EndToEndId>{payer}</EndToEndId></Refs><Amt Ccy="EUR">{cents // 100}.{cents % 100:02}</Amt>'
        f"<CdtDbtInd>CRDT</CdtDbtInd><RmtInf><Ustrd>{text}</Ustrd></RmtInf></TxDtls>"
        for cents, text, payer in parts
    )
    total = sum(cents for cents, *_ in parts)
    return (
        f'<Ntry><Amt Ccy="EUR">{total // 100}.{total % 100:02}</Amt><CdtDbtInd>CRDT</CdtDbtInd>'
        f"<Sts><Cd>BOOK</Cd></Sts><BookgDt><Dt>2026-07-06</Dt></BookgDt><AcctSvcrRef>{reference}</AcctSvcrRef>"
        f"<NtryDtls>{details}</NtryDtls></Ntry>"
    )


def statement(*entries: str, version: str = "08") -> dict[str, Any]:
    """The body of a request with this statement."""
    body = f"<BkToCstmrStmt><Stmt><Id>7</Id>{''.join(entries)}</Stmt></BkToCstmrStmt></Document>"
    return {"format": "camt.053", "content": HEAD.format(version=version) + body}
