"""The Spark pipeline of campaigns: simulate, commit, measure, summarise, judge and watch."""
