"""What a picture holds, for tests that ask what was drawn."""

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")


def parts(ax, gid):
    """All that is drawn under a name."""
    return [artist for artist in ax.get_children() if artist.get_gid() == gid]


def part(ax, gid):
    (found,) = parts(ax, gid)
    return found


def line_points(line):
    """Two points of an infinite line, or all of a drawn one."""
    if hasattr(line, "get_xy1"):
        return np.array([line.get_xy1(), line.get_xy2()])
    return np.asarray(line.get_xydata())


def marked(ax, *, face=None, gid=None):
    """The points of the scatters with a face colour, or a name."""
    found = [np.empty((0, 2))]
    for artist in ax.collections:
        if not hasattr(artist, "get_offsets") or not hasattr(artist, "get_sizes") or not len(artist.get_sizes()):
            continue
        if gid is not None and artist.get_gid() != gid:
            continue
        if gid is None and artist.get_gid() is not None:
            continue
        faces = artist.get_facecolor()
        if face is not None and not (len(faces) and matplotlib.colors.to_hex(faces[0]).upper() == face.upper()):
            continue
        found.append(np.asarray(artist.get_offsets()))
    return np.concatenate(found)


def rings(ax):
    """The points that are ringed: markers without a face."""
    found = [np.empty((0, 2))]
    found += [
        np.asarray(a.get_offsets()) for a in ax.collections if hasattr(a, "get_sizes") and not len(a.get_facecolor())
    ]
    return np.concatenate(found)


def arrows(ax):
    """(start, tip) of each arrow."""
    return [
        (np.array(text.xyann), np.array(text.xy)) for text in ax.texts if getattr(text, "arrow_patch", None) is not None
    ]


def same_points(one, other, tolerance=1e-9):
    """Whether two lists hold the same points, in any order."""
    one, other = (np.asarray(points, float).reshape(-1, np.shape(other)[-1]) for points in (one, other))
    if len(one) != len(other):
        return False
    one, other = one[np.lexsort(one.T[::-1])], other[np.lexsort(other.T[::-1])]
    return bool(np.allclose(one, other, atol=tolerance, rtol=1e-9))


def title(ax):
    return ax.get_title(loc="left").replace("\n", " ")


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]
