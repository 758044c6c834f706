"""What is wrong with webhooks and policies of admission."""
