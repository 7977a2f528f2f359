"""Commands for live nodes."""
