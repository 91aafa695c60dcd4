"""Chooses which tests to run, and runs them: all, a quick selection, or those that a change affects."""
