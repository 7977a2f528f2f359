"""GPSR (Karp and Kung 2000): greedy forwarding by place, around voids along the faces of a planar graph."""
