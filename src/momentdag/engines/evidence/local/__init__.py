"""The log evidence of one variable given its parents."""
