"""Credentials from an identity provider: OpenID Connect with refresh (N2)."""
