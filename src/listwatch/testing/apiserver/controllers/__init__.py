"""Controllers on the core's clock: what makes a manifest come to life, each switched on by name."""
