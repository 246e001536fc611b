"""Pictures that move: shown in a notebook, or written as GIF, as MP4, or as one HTML file that needs no network."""

from __future__ import annotations

import base64
import html
import io
import os
import secrets
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rosenblatt.errors import InputError
from rosenblatt.plot import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_DOTS = 110  # per inch


def require_writable(path: str | os.PathLike[str] | None, seconds: float) -> None:
    """Raise if an animation cannot be written so, before any of it is drawn."""
    if not seconds > 0:
        raise InputError(f"seconds must be above 0, got {seconds}")
    if path is None:
        return
    from matplotlib.animation import FFMpegWriter

    ending = Path(path).suffix.lower()
    if ending not in (".gif", ".mp4", ".html"):
        raise InputError(f"an animation is written as .gif, .mp4 or .html, got {Path(path).name!r}")
    if ending == ".mp4" and not FFMpegWriter.isAvailable():
        raise InputError("an .mp4 is written by ffmpeg, which is not installed: install it, or write a .gif or .html")


def animation(ax: Axes, draw: Callable[[int], None], frames: Sequence[int], seconds: float) -> Any:
    """The animation whose frame k is what `draw(k)` leaves on the axes."""
    from matplotlib.animation import FuncAnimation

    def frame(k: int) -> list[Any]:
        ax.clear()
        with style.look():
            draw(k)
        return []

    return FuncAnimation(ax.figure, frame, frames=list(frames), interval=1000 * seconds, repeat_delay=2000)


def write(moving: Any, path: str | os.PathLike[str], seconds: float, title: str) -> None:
    """Write it by the ending of its name: whole, or not at all."""
    target = Path(path)
    temporary = target.with_name(f".rosenblatt-{secrets.token_hex(8)}{target.suffix.lower()}")
    try:
        moving.save(temporary, writer=_writer(target.suffix.lower(), seconds, title), dpi=_DOTS)
        os.replace(temporary, target)
    finally:
        with suppress(OSError):
            temporary.unlink()


def _writer(ending: str, seconds: float, title: str) -> Any:
    from matplotlib.animation import FFMpegWriter, PillowWriter

    if ending == ".gif":
        return PillowWriter(fps=1 / seconds)
    if ending == ".html":
        return _player_writer(seconds, title)
    even = "scale=trunc(iw/2)*2:trunc(ih/2)*2"  # the codec wants even numbers of pixels
    return FFMpegWriter(fps=1 / seconds, codec="h264", extra_args=["-pix_fmt", "yuv420p", "-vf", even])


def _player_writer(seconds: float, title: str) -> Any:
    """Writes a page with all frames in it, and buttons: that of matplotlib fetches its icons from the network."""
    from matplotlib.animation import AbstractMovieWriter

    class PlayerWriter(AbstractMovieWriter):
        def setup(self, fig: Any, outfile: Any, dpi: float | None = None) -> None:
            super().setup(fig, outfile, dpi)
            self.frames: list[str] = []

        def grab_frame(self, **arguments: Any) -> None:
            buffer = io.BytesIO()
            self.fig.savefig(buffer, format="png", dpi=self.dpi, **arguments)
            self.frames.append("data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode())

        def finish(self) -> None:
            Path(self.outfile).write_text(_player(self.frames, seconds, title), encoding="utf-8")

    return PlayerWriter(fps=1 / seconds)


def _player(frames: Sequence[str], seconds: float, title: str) -> str:
    values = {
        "{title}": html.escape(title),
        "{milliseconds}": str(round(1000 * seconds)),
        "{last}": str(len(frames) - 1),
        "{frames}": ",\n".join(f'"{frame}"' for frame in frames),
    }
    page = _PAGE
    for name, value in values.items():
        page = page.replace(name, value)
    return page


_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
body { margin: 1rem auto; padding: 0 1rem; max-width: 46rem; font: 16px/1.5 system-ui, sans-serif; color: #222; }
img { display: block; width: 100%; height: auto; }
.controls { display: flex; gap: .5rem; align-items: center; flex-wrap: wrap; }
button { font: inherit; min-width: 2.75rem; min-height: 2.75rem; }
input { flex: 1 1 8rem; min-width: 6rem; }
</style>
</head>
<body>
<img id="picture" alt="{title}">
<div class="controls">
<button id="back" aria-label="one back">&#9664;&#xFE0E;</button>
<button id="play">Play</button>
<button id="on" aria-label="one on">&#9654;&#xFE0E;</button>
<input id="place" type="range" min="0" max="{last}" value="0" aria-label="update">
</div>
<script>
const frames = [
{frames}
];
const picture = document.getElementById("picture"), place = document.getElementById("place");
const play = document.getElementById("play");
let timer = null;
function show(k) {
  place.value = Math.max(0, Math.min(frames.length - 1, k));
  picture.src = frames[place.value];
}
function stop() { clearInterval(timer); timer = null; play.textContent = "Play"; }
function step(by) { stop(); show(Number(place.value) + by); }
document.getElementById("back").onclick = () => step(-1);
document.getElementById("on").onclick = () => step(1);
place.oninput = () => { stop(); show(Number(place.value)); };
play.onclick = () => {
  if (timer) { stop(); return; }
  if (Number(place.value) === frames.length - 1) show(0);
  play.textContent = "Pause";
  timer = setInterval(() => {
    if (Number(place.value) === frames.length - 1) stop(); else show(Number(place.value) + 1);
  }, {milliseconds});
};
show(0);
</script>
</body>
</html>
"""
