"""Feeds the command line and the HTTP interface what nobody expects (``make fuzz``)."""
