"""Commands that run or predict many scenarios, protocols and seeds."""
