"""All tickets of an event in one PDF: a job that writes page by page, tells how far it is, and can be cancelled."""
