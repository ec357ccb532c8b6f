"""Numbers, dates, headers and gaps as people write them: what a text can mean, and what to ask."""
