"""Matching and clustering of many events and filters on Spark."""
