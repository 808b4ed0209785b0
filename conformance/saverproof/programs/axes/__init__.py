"""The axes along which programs vary, the programs that cross them, and a log of points touched."""
