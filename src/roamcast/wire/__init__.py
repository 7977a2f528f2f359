"""How it is written: every message declared once, and what follows from that."""
