"""What depends on where people are: hubs in which they gather, and the topics that they prefer there."""
