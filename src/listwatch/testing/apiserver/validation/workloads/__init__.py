"""What is wrong with workloads: what makes pods, and what is about many of them."""
