"""TPSR, in which publications follow source routes set up by subscriptions, and P-PUBS, which floods them."""
