"""Makes the time pass after which a saver forgets what nobody uses."""
