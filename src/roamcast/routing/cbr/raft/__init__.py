"""RAFT-CBR: reliable, ordered explicit multicast; one module for each role."""
