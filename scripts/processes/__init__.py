"""Starting programs so that none of them outlives whoever started it."""
