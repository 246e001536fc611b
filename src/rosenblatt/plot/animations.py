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


def animation(ax: Axes, draw: Callable[[int], None], frames: Sequence[int], seconds: float) -> Any:
    """The animation whose frame k is what `draw(k)` leaves on the axes."""
    from matplotlib.animation import FuncAnimation

    if not seconds > 0:
        raise InputError(f"seconds must be above 0, got {seconds}")

    def frame(k: int) -> list[Any]:
        ax.clear()
        with style.look():
            draw(k)
        return []

    return FuncAnimation(ax.figure, frame, frames=list(frames), interval=1000 * seconds, repeat_delay=2000)


def write(moving: Any, path: str | os.PathLike[str], seconds: float, title: str) -> None:
    """Write it by the ending of its name: whole, or not at all."""
    target = Path(path)
    ending = target.suffix.lower()
    if ending not in (".gif", ".mp4", ".html"):
        raise InputError(f"an animation is written as .gif, .mp4 or .html, got {target.name!r}")
    temporary = target.with_name(f".rosenblatt-{secrets.token_hex(8)}{ending}")
    try:
        if ending == ".html":
            temporary.write_text(_player(moving, seconds, title), encoding="utf-8")
        else:
            moving.save(temporary, writer=_writer(ending, seconds), dpi=_DOTS)
        os.replace(temporary, target)
    finally:
        with suppress(OSError):
            temporary.unlink()


def _writer(ending: str, seconds: float) -> Any:
    from matplotlib.animation import FFMpegWriter, PillowWriter

    if ending == ".gif":
        return PillowWriter(fps=1 / seconds)
    if not FFMpegWriter.isAvailable():
        raise InputError("an .mp4 is written by ffmpeg, which is not installed: install it, or write a .gif or .html")
    return FFMpegWriter(
        fps=1 / seconds, codec="h264", extra_args=["-pix_fmt", "yuv420p", "-vf", "scale=trunc(iw/2)*2:trunc(ih/2)*2"]
    )


def _player(moving: Any, seconds: float, title: str) -> str:
    """A page with all frames in it, and buttons. matplotlib's own page would fetch its icons from the network."""
    frames = []
    for k in moving._iter_gen():
        moving._func(k)
        buffer = io.BytesIO()
        moving._fig.savefig(buffer, format="png", dpi=_DOTS)
        frames.append("data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode())
    listed = ",\n".join(f'"{frame}"' for frame in frames)
    return (
        _PAGE.replace("{title}", html.escape(title))
        .replace("{frames}", listed)
        .replace("{milliseconds}", str(round(1000 * seconds)))
        .replace("{last}", str(len(frames) - 1))
    )


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
