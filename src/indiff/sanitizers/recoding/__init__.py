"""Full-domain recoding: one level of every hierarchy for all records, the best one."""
