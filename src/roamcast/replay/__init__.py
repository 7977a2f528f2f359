"""Replay: the facts of runs as data for a viewer in the browser, and the viewer itself (`web/`)."""
