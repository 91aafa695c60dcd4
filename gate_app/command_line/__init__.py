"""The command line: what each command does, and how it asks a running gate."""
