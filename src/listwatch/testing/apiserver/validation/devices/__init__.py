"""What is wrong with devices, and claims of them."""
