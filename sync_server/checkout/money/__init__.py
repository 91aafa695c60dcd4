"""Amounts in whole cents, the ledger of what moved, and the text of a transfer."""
