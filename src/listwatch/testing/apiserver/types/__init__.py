"""Which types there are, built in and custom, and what a request asks for."""
