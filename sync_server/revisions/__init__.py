"""The rows that gates hold of each event, in revisions numbered in commit order."""
