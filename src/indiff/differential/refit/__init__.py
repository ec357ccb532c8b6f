"""Any sanitizer and any model: sanitize again and fit again for every target."""
