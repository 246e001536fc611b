"""Files as streams of labelled rows, in constant memory: their formats, columns, labels and places."""
