"""TPSR: subscriptions lay source routes that publications follow; and P-PUBS, which floods them instead."""
