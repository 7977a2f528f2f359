"""The publisher: sessions of its subscribers, outstanding events and their retransmission."""
