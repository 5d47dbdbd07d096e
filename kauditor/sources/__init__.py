"""Where facts come from. The only room that knows the cluster client."""
