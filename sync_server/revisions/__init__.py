"""What gates hold of each event, kept ready, in revisions that rise in commit order."""
