"""Makers: functions that make one step that suits what the model holds."""
