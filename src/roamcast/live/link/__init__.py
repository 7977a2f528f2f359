"""The link of a live node: frames to neighbours over UDP, acknowledged, retried, in fragments if long."""
