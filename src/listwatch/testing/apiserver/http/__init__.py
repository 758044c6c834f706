"""HTTP/1.1 around the core: bytes to requests, answers to bytes."""
