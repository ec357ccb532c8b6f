"""What an audit measures, as findings."""
