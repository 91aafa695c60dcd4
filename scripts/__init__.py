"""Commands to run, test, check and benchmark Gatehouse; never installed with it."""
