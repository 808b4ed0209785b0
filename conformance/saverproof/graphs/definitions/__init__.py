"""Small graphs, each a function that stands alone: its source goes into reproducers as it is.

Every function takes a ``note`` (see ``saverproof.graphs.notes``), which its nodes call with their
name before they do anything, and a saver, and returns the compiled graph. All are deterministic but
for ids, and their state is plain JSON, which every serializer can take.
"""
