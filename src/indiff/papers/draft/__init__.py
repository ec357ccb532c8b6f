"""The draft that started it."""
