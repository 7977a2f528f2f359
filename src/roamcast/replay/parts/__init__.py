"""Runs read in parts: rows by time and by event, the air in pieces, expected and made deliveries, losses."""
