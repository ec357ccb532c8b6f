"""The audit: one plan, findings, a verdict, one plain document that every report is made from."""
