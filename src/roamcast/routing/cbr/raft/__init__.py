"""RAFT-CBR: reliable explicit multicast, each side of it in a file."""
