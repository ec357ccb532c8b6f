"""``indiff test --release``: releases that were made elsewhere, beside their original."""
