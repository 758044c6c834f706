"""What an API server does, asked of the embedded server and of a real kube-apiserver alike."""
