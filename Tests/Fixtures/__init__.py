"""What tests start, play and compare with. Nothing here imports a test."""
