"""GPSR (Karp and Kung 2000): greedy geographic forwarding, and perimeter forwarding around voids."""
