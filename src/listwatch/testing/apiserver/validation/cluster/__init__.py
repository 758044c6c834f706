"""What is wrong with what a cluster is made of: namespaces, nodes, roles, events and so on."""
