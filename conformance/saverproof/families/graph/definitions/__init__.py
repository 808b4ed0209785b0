"""Small graphs, each a function that stands alone: its source is copied into scripts.

Every function takes a ``note`` (see ``node_log``) and a saver, and returns the compiled graph. Its
nodes call the note with their name before they do anything. All graphs are deterministic except for
ids, and their state is plain JSON, which every serializer can take.

Only ``barrier`` has an edge from several nodes at once. For such an edge LangGraph keeps a set of
the nodes that have ended, hands that very set to the saver, and then changes it. What a save in the
background finds in it is a matter of luck.
"""
