"""What must hold on the oldest supported langgraph-checkpoint as well."""
