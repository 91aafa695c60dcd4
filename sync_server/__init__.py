"""The server: it sells, issues, and tells gates what they must know."""
