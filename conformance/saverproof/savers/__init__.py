"""The saver under test: how it is opened, asked and seen."""
