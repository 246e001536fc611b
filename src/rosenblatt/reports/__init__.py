"""Reports: one HTML file with words, numbers and pictures, for a colleague who has only a browser.

Nothing is fetched: pictures are in the file, letters are the browser's own, there are no scripts, and a policy in the
file itself forbids the browser to load anything.
"""

from __future__ import annotations

from rosenblatt.reports.certificate_report import certificate_report
from rosenblatt.reports.page import write
from rosenblatt.reports.training_report import training_report

__all__ = ["certificate_report", "training_report", "write"]
