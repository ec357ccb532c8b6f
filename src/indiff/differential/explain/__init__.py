"""Why a record makes a difference, and how well an adversary tells members from others."""
