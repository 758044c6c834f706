"""What is wrong with volumes, claims and storage classes."""
