"""What is stored about a person: where, until when, exported on request, and erased."""
