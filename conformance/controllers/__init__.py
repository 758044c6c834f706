"""The small controllers of the embedded server, beside kube-controller-manager."""
