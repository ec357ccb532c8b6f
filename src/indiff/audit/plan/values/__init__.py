"""What single values of a plan can be, and how they are read from text."""
