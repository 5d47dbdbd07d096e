"""A live cluster through its API server: kubeconfig, connection, requests, pages."""
