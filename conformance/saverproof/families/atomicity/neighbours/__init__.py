"""Makes a call fail while another caller's call is under way."""
