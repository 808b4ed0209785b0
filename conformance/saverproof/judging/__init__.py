"""Takes steps, compares the answers with the model, and says which contract a difference breaks."""
