"""Pictures that organisers show, kept where every server process finds them."""
