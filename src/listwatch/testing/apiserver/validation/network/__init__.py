"""What is wrong with Services, endpoints, Ingresses and network policies."""
