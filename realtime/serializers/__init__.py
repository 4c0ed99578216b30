"""The live wire as JSON."""
