"""Layouts as files: how each format is read and written."""
