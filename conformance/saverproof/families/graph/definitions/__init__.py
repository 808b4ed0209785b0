"""Small graphs, each a function that stands alone: its source goes into reproducers as it is.

Every function takes a ``note`` (see ``node_log``), which its nodes call with their name before they
do anything, and a saver, and returns the compiled graph. All are deterministic but for ids, and
their state is plain JSON, which every serializer can take.

None but ``barrier`` has an edge from several nodes at once. For these, LangGraph keeps a set of who
has arrived, hands that very set to the saver, and goes on to change it; so what a save in the
background gets to see of it is a matter of luck.
"""
