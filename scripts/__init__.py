"""Commands for people who run, test, check and measure the house; never installed with it."""
