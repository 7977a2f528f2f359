"""ODMRP and Pub/Sub ODMRP: join requests flooded, join tables back, a forwarding group that carries."""
