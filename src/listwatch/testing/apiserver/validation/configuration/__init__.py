"""What is wrong with ConfigMaps, Secrets, limits, quotas and priorities."""
