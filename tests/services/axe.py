"""axe-core, which finds what keeps people from using a page; fetched once from npm into `.cache`, never shipped."""

from __future__ import annotations

from typing import Final

from playwright.sync_api import Page

from tests.services.npm_package import npm_package

VERSION: Final = "4.10.3"
SHA512: Final = "Xm7bpRXnDSX2YE2YFfBk2FnF0ep6tmG7xPh8iHee8MIcrgq762Nkce856dYtJYLkuIoYZvGfTs/PbZhideTcEg=="
"""Of the package, as the registry names it."""
_RULES: Final = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}


def violations(page: Page) -> list[str]:
    """What axe finds on a page: rule, and the first element concerned; skipped without axe.

    Colours are measured as they stay, and not on their way there: whoever wants less motion sees no transition.
    """
    page.emulate_media(reduced_motion="reduce")
    page.evaluate(_script())
    found = page.evaluate("options => axe.run(document, options).then(result => result.violations)", _RULES)
    return [f"{each['id']}: {each['nodes'][0]['html'][:200]} {each['nodes'][0]['failureSummary']}" for each in found]


def _script() -> str:
    return (npm_package("axe-core", VERSION, SHA512) / "axe.min.js").read_text(encoding="utf-8")
