"""Processes, clients, models and vectors of the tests. Nothing here imports a test."""
