"""Watching a running campaign: a stream of commits, measured by the code that measures at the end."""
