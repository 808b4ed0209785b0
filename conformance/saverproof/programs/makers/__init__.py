"""Makers: functions that make one legal step for what the model holds."""
