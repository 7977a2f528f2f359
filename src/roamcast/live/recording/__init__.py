"""Facts of live nodes: observers of a node, and segments of facts on disk."""
