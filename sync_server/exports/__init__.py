"""Tables of an event to take away, as CSV or for spreadsheets: page by page, in bounded memory."""
