"""Generates pages of docs/ from code, one per module: `FILE` names the page, `text()` returns it."""
