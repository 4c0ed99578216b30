"""Speed as a ratio against a bare baseline in the same run; absolute figures are printed, never promised."""
