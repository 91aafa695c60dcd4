"""How customers prove who they are: a link by mail, a password or a passkey; and their sessions."""
