"""The results of a campaign, for readers: its folder, and the intervals of its statistics."""
