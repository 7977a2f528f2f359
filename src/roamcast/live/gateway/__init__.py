"""The MQTT gateway: a live node as a client of a broker."""
