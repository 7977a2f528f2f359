"""Pub/Sub ODMRP: join requests with content queries, join tables with summaries, groups by publishers."""
