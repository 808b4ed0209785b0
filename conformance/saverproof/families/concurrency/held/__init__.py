"""Holds a call at one of its places while another caller changes what it works on."""
