"""Location-dependent behaviour: hubs in which nodes gather, and the topics that are preferred there."""
