"""The comparison: who plays what against which stage, and what is made of the results."""
