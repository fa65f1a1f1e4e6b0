"""The tensor IR: types with symbolic sizes, graphs, and the one door into them, `Builder.emit`."""
