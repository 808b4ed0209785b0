"""The axes along which programs vary, the programs that cross them, and what was touched."""
