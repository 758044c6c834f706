"""What is only ever asked, and never stored: who one is, what one may do, tokens."""
