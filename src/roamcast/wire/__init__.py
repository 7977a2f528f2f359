"""Message declarations and the binary encoding that follows from them."""
