"""What is wrong with nodes, roles, events, certificates, flow control: what a cluster is made of."""
