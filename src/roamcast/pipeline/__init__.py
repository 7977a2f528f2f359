"""Campaigns on Spark: plan, simulate, measure, summarise, judge."""
