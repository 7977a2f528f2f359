"""The brokers on the way: cached events, custody, and acknowledgements towards the publisher."""
