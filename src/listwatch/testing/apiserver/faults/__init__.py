"""What shall go wrong, in words, and what it does to an answer."""
