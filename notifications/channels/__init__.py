"""Where deliveries leave: one file per way out. A channel knows no queue and no database."""
