"""Work in processes of its own: the queue, the workers, and what they can be asked to do."""
