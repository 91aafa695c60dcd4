"""The shop's pages, over HTTP."""
