"""Frozen values that every other room speaks in. Imports nothing else of kauditor."""
