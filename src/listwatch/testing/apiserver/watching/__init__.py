"""WATCH: who is told of a write, and how much of the past there still is."""
