"""What the memory passes share: lifetimes of buffers, and changing which buffer a value lives in."""
