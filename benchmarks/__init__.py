"""Measurements on a real API server at full size. Never part of ``make test``."""
