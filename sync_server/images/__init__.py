"""Images that organisers upload, stored in the database so that every server process can serve them."""
