"""Moves ticket holders when an event changes to another version of its layout."""
