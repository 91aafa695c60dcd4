"""Pages of docs/ that are made from code, a module each: `FILE` names the page, `text()` makes it."""
