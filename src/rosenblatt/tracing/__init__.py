"""The parts of a trace: its steps, their replay, the table, the proof, the export."""
