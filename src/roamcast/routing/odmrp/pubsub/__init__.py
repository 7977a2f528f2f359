"""Pub/Sub ODMRP: join requests ask by content, join tables bring summaries, publishers make the groups."""
