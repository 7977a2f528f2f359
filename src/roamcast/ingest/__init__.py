"""Third-party traces: read in pieces, turned into facts or into movement for scenarios."""
