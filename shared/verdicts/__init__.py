"""What admission calls: the checks of rows 5 to 11, what they need to know, and what is said about each verdict."""
