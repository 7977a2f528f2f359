"""ODMRP and Pub/Sub ODMRP: flooded join requests, join tables as replies, and a forwarding group."""
