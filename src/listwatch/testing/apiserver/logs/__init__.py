"""What the containers of pods print: `kubectl logs`."""
