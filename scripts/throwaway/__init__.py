"""Private servers that live as long as one test run or measurement, beside and apart from whatever the machine runs."""
