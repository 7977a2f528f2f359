"""Readers of the trace formats: each yields the rows and bad lines of a file part."""
